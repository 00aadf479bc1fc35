# Sixteen connections over one line of 10 Mb/s with room for 128 packets of 1000 bytes.
#
#   ns dumbbell.tcl queue=DRR tcp=Reno seed=1 duration=30

source [file join [file dirname [info script]] network.tcl]
arguments {
    queue DropTail tcp Reno seed 1 warm_up 0 duration 30 spread 0.1 starts "" connections 16 bytes 128000 counters 1 slim 0
}
simulator
drr_queues $argument(connections)

# Sources come first: their addresses then fall into different queues of DRR.
for {set i 0} {$i < $argument(connections)} {incr i} {
    set sender($i) [$ns node]
}
set left [$ns node]
set right [$ns node]
line $left $right 10Mb 10ms $argument(queue) 1000
room $left $right $argument(queue) $argument(bytes) 1000
set lines [list $left $right]
for {set i 0} {$i < $argument(connections)} {incr i} {
    set receiver($i) [$ns node]
    access $sender($i) $left 100Mb 2ms 1000
    access $right $receiver($i) 100Mb 2ms 1000
    lappend lines $sender($i) $left $right $receiver($i)
    lappend connections [lindex [connection $argument(tcp) $sender($i) $receiver($i) [start_of $i]] 0]
}
if {$argument(counters)} {
    watch_all $lines
}
run_and_print

# One connection over 50 Mb/s with a round trip of 100 ms and room for `packets` packets.
#
#   ns buffers.tcl queue=DropTail tcp=HSTCP packets=100 warm_up=200 duration=800

source [file join [file dirname [info script]] network.tcl]
arguments {
    queue DropTail tcp Reno packets 100 seed 1 warm_up 200 duration 800 spread 1 starts "" counters 1 slim 0
}
simulator
drr_queues 64
set sender [$ns node]
set left [$ns node]
set right [$ns node]
set receiver [$ns node]
line $left $right 50Mb 40ms $argument(queue) 5000
room $left $right $argument(queue) [expr {1000 * $argument(packets)}] 1000
access $sender $left 1000Mb 5ms 10000
access $right $receiver 1000Mb 5ms 10000
lappend connections [lindex [connection $argument(tcp) $sender $receiver [start_of 0]] 0]
if {$argument(counters)} {
    watch_all [list $left $right $sender $left $right $receiver]
}
run_and_print

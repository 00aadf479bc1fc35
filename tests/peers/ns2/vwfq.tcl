# The three experiments of the V-WFQ paper: one line of 10 Mb/s with room for 128,000 bytes.
#
# 1: sixteen constant-rate sources, source i of 1 to 16 at i x 10/16 Mb/s, packets of 500 bytes.
# 2: fifteen connections and a constant-rate source of 10 Mb/s. 3: five connections.
# Each source's access line takes `apart` microseconds longer than the one before.
# A connection's host takes up to `overhead` seconds, drawn anew, before an acknowledgement lets packets go.
#
#   ns vwfq.tcl experiment=1 queue=DRR seed=1 duration=30

source [file join [file dirname [info script]] network.tcl]
arguments {
    experiment 1 queue DropTail tcp Reno seed 1 warm_up 0 duration 30 spread 0 starts "" jitter 0 overhead 0
    access 10Mb apart 0 counters 1 slim 0
}
simulator
switch $argument(experiment) {
    1 { set constant 16; set greedy 0; set size 500 }
    2 { set constant 1; set greedy 15; set size 1000 }
    3 { set constant 0; set greedy 5; set size 1000 }
    default { puts stderr "experiment=$argument(experiment): there are 1, 2 and 3"; exit 2 }
}
set sources [expr {$constant + $greedy}]
drr_queues $sources
for {set i 0} {$i < $sources} {incr i} {
    set sender($i) [$ns node]
}
set left [$ns node]
set right [$ns node]
line $left $right 10Mb 10ms $argument(queue) 1000
room $left $right $argument(queue) 128000 $size 1 $size
set lines [list $left $right]
for {set i 0} {$i < $sources} {incr i} {
    set receiver($i) [$ns node]
    access $sender($i) $left $argument(access) [expr {5000 + $i * $argument(apart)}]us 1000
    access $right $receiver($i) $argument(access) 5ms 1000
    lappend lines $sender($i) $left $right $receiver($i)
    set start [start_of $i]
    if {$i >= $greedy} {
        set rate [expr {$constant == 1 ? 10e6 : 10e6 * ($i + 1) / 16}]
        lappend sinks [constant_rate $sender($i) $receiver($i) $rate 500 $start $argument(jitter)]
    } else {
        set tcp [lindex [connection $argument(tcp) $sender($i) $receiver($i) $start] 0]
        $tcp set overhead_ $argument(overhead)
        lappend connections $tcp
    }
}
if {$argument(counters)} {
    watch_all $lines
}
run_and_print

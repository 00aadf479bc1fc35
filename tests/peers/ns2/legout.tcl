# Many connections over a network of three levels, read from tables: nodes, lines, connections with their start times.
# Both directions of each line have the queue under test with room for `packets` packets.
#
# Start times are those of the table unless `starts` are given.
#
#   ns legout.tcl data=tests/peers/data queue=DRR connections=1600 packets=50 duration=50

source [file join [file dirname [info script]] network.tcl]
arguments {
    data . queue DropTail tcp Reno packets 50 seed 1 warm_up 0 duration 50 spread 1 starts "" connections 1600
    counters 1 slim 0
}

# The rows of a table with a line of names, as lists.
proc rows {name} {
    global argument
    set file [open [file join $argument(data) $name.csv]]
    set rows {}
    foreach row [lrange [split [string trim [read $file]] \n] 1 end] {
        lappend rows [split [string trim $row] ,]
    }
    close $file
    return $rows
}

# DRR's queue of a source address, as its program computes it; given so that no two connections share a queue.
proc drr_queue {address count} {
    expr {((($address + ($address >> 8) + ~($address >> 4)) % ((2 << 19) - 1)) + 1) % $count}
}

# The next address whose queue is still free.
proc address_of_its_own {count} {
    global taken next_address
    while {[info exists taken([drr_queue $next_address $count])]} {
        incr next_address
    }
    set taken([drr_queue $next_address $count]) 1
    return $next_address
}

simulator
set queues [expr {2 * $argument(connections)}]
drr_queues $queues
set next_address 1
foreach row [rows legout_nodes] {
    set node([lindex $row 0]) [$ns node]
}
set lines {}
foreach row [rows legout_links] {
    lassign $row name from to level rate delay
    set a $node($from)
    set b $node($to)
    line $a $b $rate [set delay]s $argument(queue) 0
    room $a $b $argument(queue) [expr {1000 * $argument(packets)}] 1000
    room $b $a $argument(queue) [expr {1000 * $argument(packets)}] 1000
    lappend lines $a $b
}
foreach row [lrange [rows legout_flows] 0 [expr {$argument(connections) - 1}]] {
    lassign $row name from to start
    if {$argument(starts) ne ""} {
        set start [start_of $name]
    }
    lassign [connection $argument(tcp) $node($from) $node($to) $start] tcp sink
    $tcp set agent_addr_ [address_of_its_own $queues]
    $sink set agent_addr_ [address_of_its_own $queues]
    lappend connections $tcp
}
if {$argument(counters)} {
    watch_all $lines
}
run_and_print

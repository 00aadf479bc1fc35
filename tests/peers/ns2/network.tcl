# What the scripts share: arguments, queues, connections, counters, and the line that is printed.
#
# Settings of TCP, all of them named here: packets of 1000 bytes in all, acknowledgements of 40, one for each packet; the
# first packet has 40 bytes and window 1, then the window is 2; at most 5000 packets; retransmission timer in ticks of 10 ms,
# 0.2 to 60 s, 3 s at first; three duplicates, limited transmit; no timestamps, no ECN.

# The arguments key=value of the command line over the defaults; an unknown key ends the run.
proc arguments {defaults} {
    global argv argument
    array set argument $defaults
    foreach given $argv {
        set at [string first = $given]
        set key [string range $given 0 [expr {$at - 1}]]
        if {$at < 1 || ![info exists argument($key)]} {
            puts stderr "$given: no such argument; there are [lsort [array names argument]]"
            exit 2
        }
        set argument($key) [string range $given [expr {$at + 1}] end]
    }
    expr {srand($argument(seed))}
    ns-random $argument(seed)
}

# A simulator; with `slim` its packets carry only the headers that these scripts use.
proc simulator {} {
    global argument ns
    if {$argument(slim)} {
        remove-all-packet-headers
        add-packet-header IP TCP Flags RTP
    }
    set ns [new Simulator]
    return $ns
}

# When connection `i` starts: as given, else drawn.
proc start_of {i} {
    global argument
    if {$argument(starts) ne ""} {
        return [lindex [split $argument(starts) ,] $i]
    }
    expr {rand() * $argument(spread)}
}

# A line from `a` to `b` and back; the reverse direction is a DropTail of `reverse` packets, or like the forward one if 0.
proc line {a b rate delay queue reverse} {
    global ns
    if {$reverse == 0} {
        $ns duplex-link $a $b $rate $delay $queue
    } else {
        $ns simplex-link $a $b $rate $delay $queue
        $ns simplex-link $b $a $rate $delay DropTail
        $ns queue-limit $b $a $reverse
    }
}

# An access line with a DropTail of `limit` packets in each direction.
proc access {a b rate delay limit} {
    global ns
    $ns duplex-link $a $b $rate $delay DropTail
    $ns queue-limit $a $b $limit
    $ns queue-limit $b $a $limit
}

# Gives the queue from `a` to `b` room for `bytes` bytes of packets of `size`. DropTail counts packets unless `in_bytes`.
# RED's usual packet has `mean_packet` bytes, by which its thresholds, probabilities and idle times go.
proc room {a b kind bytes size {in_bytes 0} {mean_packet 500}} {
    global ns
    set queue [[$ns link $a $b] queue]
    switch $kind {
        DRR {
            $queue blimit $bytes
            $queue quantum $size
        }
        DropTail {
            if {$in_bytes} {
                $queue set queue_in_bytes_ true
                $queue set mean_pktsize_ $size
            }
            $ns queue-limit $a $b [expr {$bytes / $size}]
        }
        RED {
            # Thresholds by themselves: target delay 5 ms, gentle, measured in bytes.
            $queue set mean_pktsize_ $mean_packet
            $ns queue-limit $a $b [expr {$bytes / $mean_packet}]
        }
    }
}

# How many queues DRR has; it takes the source's address modulo this.
proc drr_queues {count} {
    Queue/DRR set buckets_ $count
    Queue/DRR set mask_ 0
}

# A greedy connection from `from` to `to`, started at `start`; its source, and its sink in the second place.
proc connection {kind from to start} {
    global ns
    set window_law 1
    if {$kind eq "HSTCP"} {
        set kind Reno
        set window_law 8
    }
    set tcp [new Agent/TCP/$kind]
    foreach {name value} {
        packetSize_ 1000 window_ 5000 useHeaders_ false tcpTick_ 0.01 minrto_ 0.2 maxrto_ 60 rtxcur_init_ 3.0
        windowInit_ 2 windowInitOption_ 1 syn_ true delay_growth_ true numdupacks_ 3 singledup_ 1 overhead_ 0
        timestamps_ false ecn_ 0 low_window_ 38 high_window_ 83000 high_p_ 0.0000001 high_decrease_ 0.1
    } {
        $tcp set $name $value
    }
    $tcp set windowOption_ $window_law
    set sink [new Agent/TCPSink]
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp start"
    return [list $tcp $sink]
}

# Packets of `size` bytes at `rate` bit/s; the sink, which counts them.
proc constant_rate {from to rate size start jitter} {
    global ns
    set udp [new Agent/UDP]
    set sink [new Agent/LossMonitor]
    $ns attach-agent $from $udp
    $ns attach-agent $to $sink
    $ns connect $udp $sink
    set source [new Application/Traffic/CBR]
    $source set packetSize_ $size
    $source set rate_ $rate
    $source set random_ $jitter
    $source attach-agent $udp
    $ns at $start "$source start"
    return $sink
}

# --- counting

# Counts at the line from `a` to `b`.
proc watch {a b} {
    global ns monitors
    lappend monitors [$ns monitor-queue $a $b ""]
}

# Counts at every line, so that packet-hops can be given; what is watched so far keeps its place in front.
proc watch_all {pairs} {
    foreach {a b} $pairs {
        watch $a $b
        watch $b $a
    }
}

# Byte counters are 32 bits wide: what they moved since they were last looked at, added up.
proc add_bytes {} {
    global ns bytes bytes_before monitors
    set now [[lindex $monitors 0] set bdepartures_]
    set bytes [expr {$bytes + (($now - $bytes_before) & 0xffffffff)}]
    set bytes_before $now
}

proc look_every {period} {
    global ns
    add_bytes
    $ns at [expr {[$ns now] + $period}] "look_every $period"
}

# The area under the queue at the first line watched, in packets times seconds.
proc queue_area {} {
    global ns monitors
    set area [[lindex $monitors 0] get-pkts-integrator]
    $area newpoint [$ns now] [$area set lasty_]
    return [$area set sum_]
}

# What stands on all counters now.
proc counters {} {
    global monitors bytes connections sinks
    set goodput {}
    set sent {}
    set again {}
    foreach tcp $connections {
        lappend goodput [expr {max(0, [$tcp set ack_])}]
        lappend sent [$tcp set ndatapack_]
        lappend again [$tcp set nrexmitpack_]
    }
    foreach sink $sinks {
        lappend goodput [$sink set npkts_]
        lappend sent 0
        lappend again 0
    }
    set now [list goodput $goodput sent $sent retransmitted $again]
    if {[info exists monitors]} {
        set first [lindex $monitors 0]
        add_bytes
        set hops 0
        set dropped 0
        foreach monitor $monitors {
            incr hops [$monitor set pdepartures_]
            incr dropped [$monitor set pdrops_]
        }
        lappend now bottleneck_arrived [$first set parrivals_] bottleneck_dropped [$first set pdrops_] \
            bottleneck_sent [$first set pdepartures_] bottleneck_bytes $bytes queue_area [queue_area] \
            hops $hops dropped $dropped
    }
    return $now
}

# Runs for `warm_up` and `duration` seconds and prints what was counted in the latter, as one line of JSON.
# Hops are those of the whole run: they are for speed.
proc run_and_print {} {
    global ns argument connections sinks bytes bytes_before monitors before
    foreach list {connections sinks} {
        if {![info exists $list]} {
            set $list {}
        }
    }
    set bytes 0
    set bytes_before 0
    set end [expr {$argument(warm_up) + $argument(duration)}]
    if {[info exists monitors]} {
        $ns at 0 "look_every 100"
    }
    $ns at $argument(warm_up) {set before [counters]}
    $ns at $end {print_json; exit 0}
    $ns run
}

# The difference of the counters before and now. A constant number needs no quotes in JSON, words do.
proc print_json {} {
    global argument before
    array set was $before
    set fields {}
    foreach {key now} [counters] {
        if {$key eq "hops"} {
            lappend fields "\"hops\": $now"
        } elseif {$key in {goodput sent retransmitted}} {
            set values {}
            foreach a $was($key) b $now {
                lappend values [expr {$b - $a}]
            }
            lappend fields "\"$key\": \[[join $values {, }]\]"
        } elseif {$key eq "queue_area"} {
            lappend fields "\"queue_mean\": [expr {($now - $was($key)) / double($argument(duration))}]"
        } else {
            lappend fields "\"$key\": [expr {$now - $was($key)}]"
        }
    }
    foreach key [lsort [array names argument]] {
        if {$key ni {starts}} {
            lappend arguments "\"$key\": \"$argument($key)\""
        }
    }
    puts "{[join $fields {, }], \"arguments\": {[join $arguments {, }]}}"
}

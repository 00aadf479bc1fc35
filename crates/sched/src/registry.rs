//! The parts: the only list. From a line here follow the name in scenarios and on the command line,
//! the settings' schema, the reference page, the tests of the registry and the benchmark rows.
//!
//! A line: `module => Type = "name" ["alias", …]`, and `breaks [Invariant, …]` where an invariant
//! of `card.rs` does not hold. Beside the parts of a list `or Own at … by …` is one that is
//! written outside this tree ([`crate::own`]), and how it is built.

use crate::any::{designs, parts};

designs! {
    cake => Cake = "cake" [] breaks [WorkConservation, FlowOrder],
    cake_mq => CakeMq = "cake_mq" [] breaks [WorkConservation, FlowOrder],
    dualpi2 => DualPi2 = "dualpi2" [] breaks [FlowOrder],
    fq_codel => FqCodel = "fq_codel" [],
    fq_pie => FqPie = "fq_pie" [],
    hhf => Hhf = "hhf" [] breaks [FlowOrder],
    linux_fq => LinuxFq = "linux_fq" [] breaks [WorkConservation],
    linux_sfq => LinuxSfq = "linux_sfq" [],
    pfifo_fast => PfifoFast = "pfifo_fast" [] breaks [FlowOrder],
    skbprio => Skbprio = "skbprio" [] breaks [FlowOrder],
    tos_priority => TosPriority = "tos_priority" ["rfc1046"] breaks [FlowOrder],
}

parts! {
    /// Which queue sends next?
    Scheduler "scheduler" SchedulerSettings SCHEDULERS schedule or Own at Scheduler by scheduler {
        cbs => Cbs = "cbs" ["credit_based_shaper"] breaks [WorkConservation, FlowOrder],
        datakit => Datakit = "datakit" [],
        drr => Drr = "drr" ["linux_drr"],
        drr_plus_plus => DrrPlusPlus = "drr_plus_plus" [],
        edf => Edf = "edf" ["earliest_deadline_first"] breaks [FlowOrder],
        ets => Ets = "ets" [] breaks [FlowOrder],
        fifo => Fifo = "fifo" ["fcfs", "pfifo"],
        fq => Fq = "fq" [],
        fq_pacing => FqPacing = "fq_pacing" [] breaks [WorkConservation],
        hfsc => Hfsc = "hfsc" [] breaks [WorkConservation, FlowOrder],
        hpfq => Hpfq = "hpfq" [] breaks [FlowOrder],
        htb => Htb = "htb" [] breaks [WorkConservation, FlowOrder],
        leap_forward_virtual_clock => LeapForwardVirtualClock = "leap_forward_virtual_clock" ["lfvc"],
        linux_qfq => LinuxQfq = "linux_qfq" [] breaks [FlowOrder],
        pifo => Pifo = "pifo" [] breaks [FlowOrder],
        priority => Priority = "priority" ["strict_priority", "prio"] breaks [FlowOrder],
        qfq => Qfq = "qfq" [],
        qfq_plus => QfqPlus = "qfq_plus" [],
        round_robin => RoundRobin = "round_robin" ["nagle"],
        scfq => Scfq = "scfq" ["self_clocked_fq"],
        sfq => Sfq = "sfq" ["start_time_fq"],
        sp_pifo => SpPifo = "sp_pifo" [] breaks [FlowOrder],
        srr => Srr = "srr" [],
        stochastic_fq => StochasticFq = "stochastic_fq" [],
        token_bucket => TokenBucket = "token_bucket" ["tbf"] breaks [WorkConservation],
        virtual_clock => VirtualClock = "virtual_clock" [],
        wf2q => Wf2q = "wf2q" [],
        wf2q_plus => Wf2qPlus = "wf2q_plus" [],
        wfq => Wfq = "wfq" ["pgps"],
        wrr => Wrr = "wrr" [],
    }
    /// Which packet is dropped when space is short?
    BufferPolicy "buffer" BufferSettings BUFFER_POLICIES buffer or Own at Buffer by policy {
        adaptive_red => AdaptiveRed = "adaptive_red" ["ared"],
        afd => Afd = "afd" [],
        aifo => Aifo = "aifo" [],
        blue => Blue = "blue" [],
        choke => Choke = "choke" [],
        cobalt => Cobalt = "cobalt" [],
        codel => Codel = "codel" [],
        csfq => Csfq = "csfq" [],
        dynamic_threshold => DynamicThreshold = "dynamic_threshold" ["dt"],
        fred => Fred = "fred" [],
        fuzzball => Fuzzball = "fuzzball" [],
        greatest_rank_drop => GreatestRankDrop = "greatest_rank_drop" [],
        head_drop => HeadDrop = "head_drop" ["drop_front"],
        longest_queue_drop => LongestQueueDrop = "longest_queue_drop" ["lqd"],
        pie => Pie = "pie" [],
        rainbow_fq => RainbowFq = "rainbow_fq" ["rfq"],
        random_drop => RandomDrop = "random_drop" [],
        red => Red = "red" [],
        sfb => Sfb = "sfb" [],
        tail_drop => TailDrop = "tail_drop" ["drop_tail"],
        vwfq => Vwfq = "vwfq" [],
        wred => Wred = "wred" [],
    }
    /// Whose packet is this?
    Classifier "classifier" ClassifierSettings CLASSIFIERS classify {
        destination => Destination = "destination" [],
        pair => Pair = "pair" ["conversation"],
        port_pair => PortPair = "port_pair" ["process", "five_tuple"],
        source => Source = "source" [],
        tos => Tos = "tos" ["dscp"],
    }
    /// Which packets may join the queue at all?
    Policer "policer" PolicerSettings POLICERS policer {
        police => Police = "police" [],
    }
    /// Which packets are marked to signal congestion?
    Marker "marker" MarkerSettings MARKERS mark {
        decbit => Decbit = "decbit" [],
        fq_bit => FqBit = "fq_bit" [],
        none => None = "none" [],
        selective_decbit => SelectiveDecbit = "selective_decbit" [],
        step => Step = "step" [],
    }
}

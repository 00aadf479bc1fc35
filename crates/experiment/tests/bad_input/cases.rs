//! Faulty pieces of a scenario, each with the line that the user reads.

/// The message for a rate that may be in bits or bytes.
pub(crate) const AS_TC: &str =
    r#"a.toml:12: links[0].rate: `1 Mbps`: write "1 Mbit/s", or "8 Mbit/s" if Mbps is bytes a second, as for tc"#;

/// A piece of the sound scenario, its replacement, and the line that the user reads.
pub(crate) const CASES: &[(&str, &str, &str)] = &[
    // Entries that cannot stop at the given time.
    (
        "weight = 2",
        "start = \"2 s\"\nstop = \"2 s\"",
        "a.toml:21: flows[0].stop: it is to stop at 2 s and starts at 2 s; a stop comes after the start",
    ),
    (
        "weight = 2",
        "stop = \"0.5 s\"",
        "a.toml:20: flows[0].stop: it is to stop at 500 ms and starts at a random time in the first second; write a start",
    ),
    (
        "buffer = \"15 packets\"",
        "stop = \"1 s\"\nstart = \"3 s\"",
        "a.toml:6: defaults.stop: it is to stop at 1 s and starts at 3 s; a stop comes after the start (for flow 1)",
    ),
    (
        "weight = 2",
        "stop = 3",
        r#"a.toml:20: flows[0].stop: write a time as text with a unit, like "3 s" or "3 ms", not `3`"#,
    ),
    (
        "[[axes]]",
        "[[sessions]]\nname = \"s\"\nfrom = \"gateway\"\nrates = [\"1 kbit/s\"]\nstart = \"9 s\"\nstop = \"8 s\"\n\
         receivers = [{ at = \"sink\" }]\ncontrol = \"rlm\"\n[[axes]]",
        "a.toml:27: sessions[0].stop: it is to stop at 8 s and starts at 9 s; a stop comes after the start",
    ),
    (
        "[[axes]]",
        "[[sessions]]\nname = \"s\"\nfrom = \"gateway\"\nrates = [\"1 kbit/s\"]\nstop = \"8 s\"\ncontrol = \"rlm\"\n\
         receivers = [{ at = \"sink\", start = \"8 s\" }]\n[[axes]]",
        "a.toml:28: sessions[0].receivers[0].stop: it is to stop at 8 s and starts at 8 s; a stop comes after the start",
    ),
    // Impossible connections.
    (
        "transport = \"generic\"",
        "transport = \"generic\"\nconnection = {}",
        "a.toml:20: flows[0].connection: generic has rules of its own and takes no connection settings",
    ),
    (
        "transport = \"generic\"",
        "transport = \"reno\"\nconnection = { initial_window = 0 }",
        "a.toml:20: flows[0].connection: initial_window is 0; it is from 1 to 1000000",
    ),
    (
        "transport = \"generic\"",
        "transport = \"reno\"\nconnection = { acknowledge_every = 2, acknowledgement_delay = \"0 s\" }",
        "a.toml:20: flows[0].connection: acknowledgement_delay is 0 s, so that nothing is delayed; write for example \"40 ms\"",
    ),
    (
        "transport = \"generic\"",
        "transport = \"packet_pair\"\nconnection = { acknowledge_every = 2 }",
        "a.toml:20: flows[0].connection.acknowledge_every: packet_pair goes by the gaps of answers to each packet; write acknowledge_every = 1",
    ),
    (
        "transport = \"generic\"",
        "transport = \"reno\"\nconnection = { timeout = { floor = \"1 ps\" } }",
        "a.toml:20: flows[0].connection: timeout.floor is less than 1 us; write for example \"200 ms\"",
    ),
    (
        "transport = \"generic\"",
        "transport = \"reno\"\nconnection = { timeout = { floor = \"90 s\" } }",
        "a.toml:20: flows[0].connection: timeout.ceiling is 60 s, below the floor or the first timeout",
    ),
    (
        "transport = \"generic\"",
        "transport = \"reno\"\nconnection = { timed = \"one\" }",
        "a.toml:20: flows[0].connection: timed is \"one\", but with time stamps each packet is timed; write timestamps = false",
    ),
    (
        "transport = \"generic\"",
        "transport = \"reno\"\nconnection = { timed = \"oldest\" }",
        "a.toml:20: flows[0].connection: timed is \"oldest\", but with time stamps each packet is timed; write timestamps = false",
    ),
    (
        "transport = \"generic\"",
        "transport = \"reno(whole_bytes_of=0)\"",
        "a.toml:19: flows[0].transport: whole_bytes_of is 0; it must be above 0 and at most 65535",
    ),
    (
        "transport = \"generic\"",
        "transport = \"reno\"\nconnection = { recovery = \"sak\" }",
        "a.toml:20: flows[0].connection.recovery: `sak` is not known here; did you mean sack?",
    ),
    (
        "transport = \"generic\"",
        "transport = \"reno(decrease=1.5)\"",
        "a.toml:19: flows[0].transport: decrease is 1.5; it must be above 0 and below 1",
    ),
    (
        "transport = \"generic\"",
        "transport = \"cubic(decrease=1)\"",
        "a.toml:19: flows[0].transport: decrease is 1; it must be above 0 and below 1",
    ),
    (
        "transport = \"generic\"",
        "transport = \"reno(mark_decrease=1)\"",
        "a.toml:19: flows[0].transport: mark_decrease is 1; it must be above 0 and below 1",
    ),
    (
        "transport = \"generic\"",
        "transport = { kind = \"jk\", timeout = { ceiling = \"0 s\" } }",
        "a.toml:19: flows[0].transport: timeout.ceiling is 0 s, below the floor or the first timeout",
    ),
    (
        "transport = \"generic\"",
        "transport = { kind = \"jk\", timeout = { floor = \"0 s\", deviation_floor = \"0 s\", tick = \"1 s\" } }",
        "a.toml:19: flows[0].transport: timeout.tick is 1 s, above both timeout.floor and timeout.deviation_floor",
    ),
    (
        "transport = \"generic\"",
        "transport = \"rap(first=1ns)\"",
        r#"a.toml:19: flows[0].transport: first is 1 ns; the first gap is at least 1 us, like "2 s""#,
    ),
    // Sessions.
    (
        "[[axes]]",
        "[[sessions]]\nname = \"s\"\nfrom = \"gateway\"\ncontrol = \"plm\"\nsource = \"pairs\"\n\
         receivers = [{ at = \"sink\" }]\n[[axes]]",
        r#"a.toml:22: sessions[0].rates: a session needs layers; write for example rates = ["50 kbit/s", "50 kbit/s"]"#,
    ),
    (
        "[[axes]]",
        "[[sessions]]\nname = \"s\"\nfrom = \"gateway\"\nrates = []\nreceivers = [{ at = \"sink\" }]\n[[axes]]",
        r#"a.toml:25: sessions[0].rates: a session needs layers; write for example rates = ["50 kbit/s", "50 kbit/s"]"#,
    ),
    (
        "[[axes]]",
        "[[sessions]]\nname = \"s\"\nfrom = \"gateway\"\nlayers = { count = 3, rate = \"32 kbit/s\", factor = 1.0 }\n\
         receivers = [{ at = \"sink\" }]\n[[axes]]",
        "a.toml:25: sessions[0].layers.factor: factor is above 1 and at most 1000: each layer adds to the rate of those below",
    ),
    (
        "[[axes]]",
        "[[sessions]]\nname = \"s\"\nfrom = \"gateway\"\nrates = [\"1 kbit/s\"]\ncontrol = \"plm\"\nsource = \"pairs\"\n\
         receivers = [{ at = \"sinc\" }]\n[[axes]]",
        "a.toml:28: sessions[0].receivers[0].at: no link leads to a node called sinc; did you mean sink?",
    ),
    (
        "[[axes]]",
        "[[sessions]]\nname = \"s\"\nfrom = \"gateway\"\nrates = [\"1 kbit/s\"]\ncontrol = \"plm\"\n\
         receivers = [{ at = \"sink\" }]\n[[axes]]",
        "a.toml:27: sessions[0].receivers[0].control: plm measures pairs; write source = \"pairs\"",
    ),
    (
        "[[axes]]",
        "[[sessions]]\nname = \"s\"\nfrom = \"gateway\"\nrates = [\"1 kbit/s\"]\n\
         receivers = [{ at = \"sink\", control = \"plm(chek=1s)\" }]\n[[axes]]",
        "a.toml:26: sessions[0].receivers[0].control.chek: no such field of plm; did you mean check?",
    ),
    // Misspelt names.
    ("title =", "titel =", "a.toml:1: titel: no such field; did you mean title?"),
    ("seed = 3", "sede = 3", "a.toml:4: measure.sede: no such field; did you mean seed?"),
    ("delta =", "detla =", "a.toml:13: links[0].queue.scheduler.detla: no such field of fq; did you mean delta?"),
    (
        "kind = \"fq\"",
        "kind = \"fqq\"",
        "a.toml:13: links[0].queue.scheduler.kind: `fqq` is not known here; did you mean fq?",
    ),
    ("scheduler =", "schedular =", "a.toml:13: links[0].queue.schedular: no such field; did you mean scheduler?"),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"fq(detla=40B)\"",
        "a.toml:13: links[0].queue.scheduler.detla: no such field of fq; did you mean delta?",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"ffq + lqd\"",
        "a.toml:13: links[0].queue: `ffq` is no part of a queue; did you mean fq?",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"fq(delta=40)\"",
        r#"a.toml:13: links[0].queue.scheduler.delta: write a size as text with a unit, like "40 B", not `40`"#,
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"fq + lqd(from=middle)\"",
        "a.toml:13: links[0].queue.buffer.from: `middle` is not known here; there are front, tail",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"fq(preemptive=yes)\"",
        r#"a.toml:13: links[0].queue.scheduler.preemptive: write true or false, not "yes""#,
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = 3",
        r#"a.toml:13: links[0].queue: write text like "fq + 15 packets", or a table with a scheduler, not `3`"#,
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = [\"fq\"]",
        r#"a.toml:13: links[0].queue: write text like "fq + pair" or "ftp", or a table, not a list"#,
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = { scheduler = {} }",
        r#"a.toml:13: links[0].queue.scheduler: kind is missing; write kind = "fq""#,
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = { scheduler = 7 }",
        r#"a.toml:13: links[0].queue.scheduler: write a name like "fq" or "ftp", or a table with its kind, not `7`"#,
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = { scheduler = \"lqd\" }",
        "a.toml:13: links[0].queue.scheduler.kind: `lqd` is not known here; there are …",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"fifo + fq_bit\"",
        "a.toml:13: links[0].queue: fq_bit looks at a flow's own queue; use it with a scheduler that has one, like fq",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"police(rate=10kbit/s, burst=999B) + fifo\"",
        "a.toml:13: links[0].queue: police lets no packet above 999 B pass, and those of …",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"police(rate=10kbit/s) + polic + fifo\"",
        "a.toml:13: links[0].queue: `polic` is no part of a queue; did you mean police?",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"police + police + fifo\"",
        "a.toml:13: links[0].queue: `police + police + fifo` names two parts of the kind policer",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"cake_mq(queues=8, cake=(rate=1Mbit/s))\"",
        "a.toml:13: links[0].queue: cake_mq: the rate is of all queues together; write rate beside queues",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"token_bucket(rate=0bit/s)\"",
        "a.toml:13: links[0].queue.scheduler.rate: `0bit/s`: a rate is above zero and at most 10 Tbit/s",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = { scheduler = { kind = \"htb\", classes = [{ name = \"a\" }, { name = 0 }] } }",
        "a.toml:13: links[0].queue.scheduler.classes[1].name: write text in quotes, not `0`",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = { scheduler = { kind = \"htb\", classes = [{ name = \"a\", quantm = \"1 B\" }] } }",
        "a.toml:13: links[0].queue.scheduler.classes[0].quantm: no such field; did you mean quantum?",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"fq + lqd(from=3)\"",
        "a.toml:13: links[0].queue.buffer.from: write a word in quotes, not `3`",
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = \"on_off(on=pareto(mean=1s, shpae=1.2))\"",
        "a.toml:18: flows[0].traffic.on.shpae: no such field of pareto; did you mean shape?",
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = \"on_off(on=pareto(mean=1s, shape=1), off=1s)\"",
        "a.toml:18: flows[0].traffic: the shape of a pareto distribution is above 1 (or its mean would be infinite) and at most 1000",
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = \"on_off(off=exponental(mean=1s))\"",
        "a.toml:18: flows[0].traffic.off.kind: `exponental` is not known here; did you mean exponential?",
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = \"on_off(on=5)\"",
        r#"a.toml:18: flows[0].traffic.on: write a quantity with a unit, like "1.5 s" or "10 kB", or a law of it, like "exponential(mean=1.5s)", not `5`"#,
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = { kind = \"on_off\", on = \"0 s\" }",
        "a.toml:18: flows[0].traffic: the mean of a distribution is above zero",
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = \"self_similar(rate=1Mbit/s)\"",
        "a.toml:18: flows[0].traffic: a source sends fewer than 10 packets in its mean_on, and shorter times on are lost; write fewer sources, a longer mean_on or a smaller packet",
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = \"cbr(rate=1Mbit/s, jitter=2)\"",
        "a.toml:18: flows[0].traffic: jitter is from 0 to 1",
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = \"flow_arrivals(rate=1Mbit/s)\"",
        r#"a.toml:18: flows[0].traffic: size is missing; write size = "10 kB""#,
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = \"flow_arrivals(size=10kB)\"",
        "a.toml:18: flows[0].traffic: give either the rate of all transfers together or mean_gap, the mean time between them",
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = \"flow_arrivals(size=10kB, mean_gap=1s, load=0.5)\"",
        "a.toml:18: flows[0].traffic: load goes with rate, and is above 0 and at most 1000000",
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = \"web(size=10)\"",
        r#"a.toml:18: flows[0].traffic.size: write a quantity with a unit, like "1.5 s" or "10 kB", or a law of it, like "exponential(mean=1.5s)", not `10`"#,
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = \"incast(size=lognormal(mean=10kB, sigma=11))\"",
        "a.toml:18: flows[0].traffic: the sigma of a lognormal distribution is from 0 to 10",
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }",
        "traffic = { kind = \"request_response\", size = { kind = \"table\", points = [[\"1 kB\", 0.5], [\"2 kB\", 0.9]] } }",
        "a.toml:18: flows[0].traffic: the points of a table rise, with probabilities from 0 up to 1 for the last",
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }\ntransport = \"generic\"",
        "traffic = \"web\"\ntransport = \"uncontrolled\"",
        r#"a.toml:19: flows[0].transport: a transfer is complete when all of it is acknowledged; write a transport that waits for that, like "reno""#,
    ),
    (
        "transport = \"generic\"",
        "transport = \"genric\"",
        "a.toml:19: flows[0].transport.kind: `genric` is not known here; did you mean generic?",
    ),
    (
        "transport = \"generic\"",
        "transport = \"generic(window=0)\"",
        "a.toml:19: flows[0].transport: a window of 0; it is from 1 to 1000000 packets",
    ),
    (
        "transport = \"generic\"",
        "transport = \"generic(window=-1)\"",
        "a.toml:19: flows[0].transport.window: write a whole number from 1 to 1000000, not `-1`",
    ),
    (
        "transport = \"generic\"",
        "transport = \"generic(window=many)\"",
        r#"a.toml:19: flows[0].transport.window: write a whole number from 1 to 1000000, not "many""#,
    ),
    (
        "transport = \"generic\"",
        "transport = { window = 3 }",
        r#"a.toml:19: flows[0].transport: kind is missing; write kind = "generic""#,
    ),
    (
        "transport = \"generic\"",
        "transport = { kind = \"generic\", window = \"3\" }",
        r#"a.toml:19: flows[0].transport.window: write a whole number from 1 to 1000000, not "3""#,
    ),
    (
        "transport = \"generic\"",
        "transport = { kind = \"jk\", timeout = { frist = \"3 s\" } }",
        "a.toml:19: flows[0].transport.timeout.frist: no such field; did you mean first?",
    ),
    (
        "transport = \"generic\"",
        "transport = { kind = \"jk\", timeout = { first = \"0 s\" } }",
        r#"a.toml:19: flows[0].transport: timeout.first is 0 s; the first timeout is at least 1 us, like "3 s""#,
    ),
    (
        "transport = \"generic\"",
        "transport = { kind = \"jk\", timeout = { first = 3 } }",
        r#"a.toml:19: flows[0].transport.timeout.first: write a time as text with a unit, like "3 s" or "3 ms", not `3`"#,
    ),
    (
        "transport = \"generic\"",
        "transport = \"none\"",
        r#"a.toml:19: flows[0].transport: a file transfer without flow control sends all it has at once; write transport = "generic", or give the ftp at most 1000000 packets"#,
    ),
    (
        "kind = \"ftp\"",
        "kind = \"fpt\"",
        "a.toml:18: flows[0].traffic.kind: `fpt` is not known here; did you mean ftp?",
    ),
    ("kind = \"ftp\", ", "", r#"a.toml:18: flows[0].traffic: kind is missing; write kind = "ftp""#),
    (
        "packet = \"1000 B\"",
        "packet = \"0 B\"",
        "a.toml:18: flows[0].traffic: packet is at least 1 B and at most 1 MiB",
    ),
    (
        "packet = \"1000 B\"",
        "packet = \"1000\"",
        r#"a.toml:18: flows[0].traffic.packet: `1000`: a size needs a unit, as in "1000 B""#,
    ),
    (
        "packet = \"1000 B\"",
        "packet = 1000",
        r#"a.toml:18: flows[0].traffic.packet: write a size as text with a unit, like "1000 B", not `1000`"#,
    ),
    (
        "packet = \"1000 B\"",
        "packet = \"1000 B\", packets = -2",
        "a.toml:18: flows[0].traffic.packets: write a whole number from 0 to 18446744073709551615, not `-2`",
    ),
    (
        "traffic = { kind = \"ftp\", packet = \"1000 B\" }\n",
        "",
        r#"a.toml:14: flows[0]: traffic is missing; write traffic = "ftp""#,
    ),
    // Quantities.
    (
        "rate = \"56 kbit/s\"",
        "rate = \"56 kbps\"",
        r#"a.toml:12: links[0].rate: `56 kbps`: write "56 kbit/s", or "448 kbit/s" if kbps is bytes a second, as for tc"#,
    ),
    (
        "rate = \"56 kbit/s\"",
        "rate = \"56\"",
        r#"a.toml:12: links[0].rate: `56`: a rate needs a unit, as in "56 bit/s""#,
    ),
    (
        "rate = \"56 kbit/s\"",
        "rate = 56000",
        r#"a.toml:12: links[0].rate: `56000`: a rate is text with a unit, like "56 kbit/s", or "unlimited""#,
    ),
    (
        "rate = \"56 kbit/s\"",
        "rate = \"0 kbit/s\"",
        "a.toml:12: links[0].rate: `0 kbit/s`: a rate is above zero and at most 10 Tbit/s",
    ),
    (
        "rate = \"56 kbit/s\"",
        "rate = \"-56 kbit/s\"",
        "a.toml:12: links[0].rate: `-56 kbit/s`: a rate cannot be negative",
    ),
    ("rate = \"56 kbit/s\"\n", "", r#"a.toml:8: links[0]: rate is missing; write rate = "56 kbit/s""#),
    (
        "rate = \"56 kbit/s\"",
        "rate = true",
        r#"a.toml:12: links[0].rate: `true`: a rate is text with a unit, like "56 kbit/s", or "unlimited""#,
    ),
    (
        "rate = \"56 kbit/s\"",
        "rate = \"56 kbit/s\"\ndelay = \"soon\"",
        "a.toml:13: links[0].delay: `soon`: a time is a number with one of the units s, ms, us, µs, ns, ps, min, h",
    ),
    (
        "rate = \"56 kbit/s\"",
        "rate = \"56 kbit/s\"\ndelay = 0.5",
        r#"a.toml:13: links[0].delay: write a time as text with a unit, like "0.5 s" or "0.5 ms", not `0.5`"#,
    ),
    (
        "buffer = \"15 packets\"",
        "buffer = 15",
        r#"a.toml:6: defaults.buffer: write a buffer as text with a unit, like "15 packets", "64 kB", "50 ms" or "1 BDP", not `15`"#,
    ),
    (
        "buffer = \"15 packets\"",
        "buffer = \"15\"",
        r#"a.toml:6: defaults.buffer: `15`: a buffer is "15 packets", "64 kB", "50 ms" of the line, "1 BDP" or "unlimited""#,
    ),
    (
        "buffer = \"15 packets\"",
        "buffer = \"0 packets\"",
        "a.toml:6: defaults.buffer: `0 packets`: a limit is at least 1 packet",
    ),
    (
        "buffer = \"15 packets\"",
        "buffer = \"1.5 packets\"",
        r#"a.toml:6: defaults.buffer: `1.5 packets`: a limit is "15 packets", "64 kB" or "unlimited"; a limit is finer than fairq can hold; give fewer digits"#,
    ),
    (
        "buffer = \"15 packets\"",
        "acknowledgement = \"0 B\"",
        "a.toml:6: defaults.acknowledgement: an acknowledgement has from 1 B to 1 MiB",
    ),
    (
        "buffer = \"15 packets\"",
        "access = { delay = \"1 s\" }",
        r#"a.toml:6: defaults.access: rate is missing; write rate = "56 kbit/s""#,
    ),
    (
        "buffer = \"15 packets\"",
        "access = \"1 s\"",
        r#"a.toml:6: defaults.access: write a table like { rate = "800 kbit/s", delay = "1 ms" }, not "1 s""#,
    ),
    (
        "buffer = \"15 packets\"",
        "start = 0",
        r#"a.toml:6: defaults.start: `0`: a start is a time with a unit, like "0 s", or "drawn""#,
    ),
    (
        "duration = \"1 s\"",
        "duration = \"0 s\"",
        r#"a.toml:3: measure.duration: a run needs some time to measure; write for example "10 s""#,
    ),
    (
        "duration = \"1 s\"",
        "duration = \"99 h\"\nwarm_up = \"9999 h\"",
        "a.toml:4: measure.warm_up: `9999 h`: a time is at most 53 days",
    ),
    (
        "duration = \"1 s\"",
        "duration = \"1 day\"",
        "a.toml:3: measure.duration: `1 day`: a time is a number with one of the units s, ms, us, µs, ns, ps, min, h",
    ),
    ("duration = \"1 s\"", "replications = 0", "a.toml:3: measure.replications: write a number from 1 to 1000000"),
    (
        "duration = \"1 s\"",
        "replications = -1",
        "a.toml:3: measure.replications: write a whole number from 1 to 1000000, not `-1`",
    ),
    (
        "duration = \"1 s\"",
        "replications = 2.5",
        "a.toml:3: measure.replications: write a whole number from 1 to 1000000, not `2.5`",
    ),
    (
        "seed = 3",
        "seed = 99999999999999999999",
        r#"a.toml:4: measure.seed: write a whole number from 0 to 18446744073709551615, not "99999999999999999999""#,
    ),
    (
        "[measure]\nduration = \"1 s\"\nseed = 3\n",
        "measure = 3\n",
        "a.toml:2: measure: write a table of fields, not `3`",
    ),
    ("weight = 2", "weight = nan", r#"a.toml:20: flows[0].weight: write a number, like 1.5, not "nan""#),
    ("weight = 2", "weight = inf", r#"a.toml:20: flows[0].weight: write a number, like 1.5, not "inf""#),
    (
        "weight = 2",
        "weight = 0",
        "a.toml:20: flows[0].weight: `0`: a weight is a number from 0.001 to 1000000, in whole thousandths",
    ),
    (
        "weight = 2",
        "weight = -1",
        "a.toml:20: flows[0].weight: `-1`: a weight is a number from 0.001 to 1000000, in whole thousandths",
    ),
    ("weight = 2", "weight = \"1\"", r#"a.toml:20: flows[0].weight: write a number, like 1.5, not "1""#),
    (
        "weight = 2",
        "weight = 0.0001",
        "a.toml:20: flows[0].weight: `0.0001`: a weight is a number from 0.001 to 1000000, in whole thousandths",
    ),
    ("weight = 2", "tos = 256", "a.toml:20: flows[0].tos: write a whole number from 0 to 255, not `256`"),
    // The two low bits of the byte are the transport's.
    (
        "weight = 2",
        "tos = 0xb9",
        "a.toml:20: flows[0].tos: 185 says ECT(1) in its two low bits, but generic sends Not-ECT: these bits are the \
         transport's; write 184",
    ),
    (
        "transport = \"generic\"",
        "transport = \"prague\"\ntos = 2",
        "a.toml:20: flows[0].tos: 2 says ECT(0) in its two low bits, but prague sends ECT(1): these bits are the \
         transport's; write 0",
    ),
    (
        "transport = \"generic\"",
        "transport = \"fixed_rate\"\ntos = 6",
        "a.toml:20: flows[0].tos: 6 says ECT(0) in its two low bits, but fixed_rate sends Not-ECT: these bits are the \
         transport's; write 4 and fixed_rate(ecn=ect0)",
    ),
    (
        "transport = \"generic\"",
        "transport = \"dctcp\"\ntos = 1",
        "a.toml:20: flows[0].tos: 1 says ECT(1) in its two low bits, but dctcp sends ECT(0): these bits are the \
         transport's; write 0 and dctcp(ecn=ect1)",
    ),
    (
        "transport = \"generic\"",
        "transport = \"cubic(ecn=true)\"\ntos = 3",
        "a.toml:20: flows[0].tos: 3 says CE in its two low bits, but cubic sends ECT(0): these bits are the \
         transport's; write 0",
    ),
    (
        "[[axes]]",
        "[[sessions]]\nname = \"s\"\nfrom = \"gateway\"\nrates = [\"1 kbit/s\"]\ncontrol = \"rlm\"\ntos = 1\n\
         receivers = [{ at = \"sink\" }]\n[[axes]]",
        "a.toml:27: sessions[0].tos: 1 says ECT(1) in its two low bits, but a session's receivers hear of losses only, so \
         that its packets are Not-ECT; write 0",
    ),
    ("weight = 2", "count = 0", "a.toml:20: flows[0].count: write a number from 1 to 1000000"),
    // Names and routes.
    (
        "route = [\"bottleneck\"]",
        "route = [\"bottelneck\"]",
        "a.toml:21: flows[0].route[0]: no link is called bottelneck; did you mean bottleneck?",
    ),
    (
        "route = [\"bottleneck\"]",
        "route = \"bottleneck\"",
        r#"a.toml:21: flows[0].route: write a list, like ["a", "b"] or one [[table]] after another, not "bottleneck""#,
    ),
    ("route = [\"bottleneck\"]", "route = [3]", "a.toml:21: flows[0].route[0]: write text in quotes, not `3`"),
    (
        "route = [\"bottleneck\"]\n",
        "[[links]]\nname = \"far\"\nfrom = \"x\"\nto = \"y\"\nrate = \"1 Mbit/s\"\n[[flows]]\nname = \"2\"\nfrom = \"gateway\"\nto = \"y\"\ntraffic = \"telnet\"\n",
        "a.toml:29: flows[1].to: there is no way from gateway to y",
    ),
    (
        "route = [\"bottleneck\"]\n",
        "[[links]]\nname = \"far\"\nfrom = \"x\"\nto = \"y\"\nrate = \"1 Mbit/s\"\n[[flows]]\nname = \"2\"\nfrom = \"gateway\"\nto = \"sink\"\nroute = [\"far\"]\ntraffic = \"telnet\"\n",
        "a.toml:30: flows[1].route[0]: there is no way from gateway to x",
    ),
    (
        "route = [\"bottleneck\"]\n",
        "[[flows]]\nname = \"1\"\nfrom = \"gateway\"\nto = \"sink\"\ntraffic = \"telnet\"\n",
        "a.toml:22: flows[1].name: `1` is empty or taken; names are unique",
    ),
    (
        "route = [\"bottleneck\"]\n",
        "[[links]]\nname = \"bottleneck\"\nfrom = \"x\"\nto = \"y\"\nrate = \"1 Mbit/s\"\n",
        "a.toml:22: links[1].name: there is another link called bottleneck",
    ),
    (
        "to = \"sink\"\ntraffic",
        "to = \"snik\"\ntraffic",
        "a.toml:17: flows[0].to: no link leads to a node called snik; did you mean sink?",
    ),
    (
        "to = \"sink\"\ntraffic",
        "to = \"gateway\"\ntraffic",
        "a.toml:17: flows[0].to: a flow leads to another node than it comes from",
    ),
    ("to = \"sink\"\nrate", "to = \"gateway\"\nrate", "a.toml:11: links[0].to: a link leads to another node"),
    (
        "rate = \"56 kbit/s\"",
        "rate = \"unlimited\"",
        "a.toml:17: flows[0].to: nothing on the way there and back takes time; give a link on it a rate or a delay",
    ),
    (
        "name = \"bottleneck\"\n",
        "name = \"-bottleneck\"\n",
        "a.toml:9: links[0].name: a name is not empty and does not begin with -",
    ),
    ("name = \"bottleneck\"\n", "", r#"a.toml:8: links[0]: name is missing; write name = "…""#),
    ("name = \"bottleneck\"\n", "name = 7\n", "a.toml:9: links[0].name: write text in quotes, not `7`"),
    // Axes.
    (
        "values = [{ name = \"a\", set = { \"defaults.queue\" = \"fifo\" } }, { name = \"b\", set = { \"defaults.queue\" = \"fq\" } }]",
        "values = []",
        "a.toml:24: axes[0].values: the list is empty; write at least one value",
    ),
    (
        "values = [{ name = \"a\", set = { \"defaults.queue\" = \"fifo\" } }, { name = \"b\", set = { \"defaults.queue\" = \"fq\" } }]",
        "values = [1]",
        r#"a.toml:24: axes[0].values[0]: write { name = "…", set = { "defaults.queue" = "fq" } }, or give the axis a path"#,
    ),
    (
        "values = [{ name = \"a\", set = { \"defaults.queue\" = \"fifo\" } }, { name = \"b\", set = { \"defaults.queue\" = \"fq\" } }]",
        "path = \"links.middle.rate\"\nvalues = [\"1 Mbit/s\"]",
        "a.toml:24: axes[0].path: links.middle.rate: nothing is called middle; there are bottleneck",
    ),
    (
        "\"defaults.queue\" = \"fifo\"",
        "\"defaults.quue\" = \"fifo\"",
        "a.toml:24: axes[0].values[0]: defaults.quue: no such field; did you mean queue?",
    ),
    (
        "\"defaults.queue\" = \"fifo\"",
        "\"defaults.queue\" = \"fifoo\"",
        "a.toml:24: axes[0].values[0]: defaults.queue: `fifoo` is no part of a queue; did you mean fifo?",
    ),
    // Inside what the scenario writes as a text form.
    (
        "\"defaults.queue\" = \"fifo\"",
        "\"defaults.queue.scheduler.detla\" = \"40 B\"",
        "a.toml:24: axes[0].values[0]: defaults.queue.scheduler.detla: no such field of fq; did you mean delta?",
    ),
    (
        "\"defaults.queue\" = \"fifo\"",
        "\"defaults.queue.scheduler\" = \"fq(\"",
        "a.toml:24: axes[0].values[0]: defaults.queue.scheduler: `fq(`: a bracket is not closed",
    ),
    (
        "\"defaults.queue\" = \"fifo\"",
        "\"defaults.connection\" = []",
        "a.toml:24: axes[0].values[0]: defaults.connection: write a table of fields, not a list",
    ),
    (
        "\"defaults.queue\" = \"fifo\"",
        "\"defaults.transport\" = \"jk(timeout=[])\"",
        "a.toml:24: axes[0].values[0]: defaults.transport.timeout: write a table of fields, not a list",
    ),
    (
        "set = { \"defaults.queue\" = \"fifo\" }",
        "sett = {}",
        "a.toml:24: axes[0].values[0].sett: no such field; did you mean set?",
    ),
    (
        "name = \"policy\"",
        "name = \"flow\"",
        "a.toml:23: axes[0].name: flow is a column of the results; choose another name",
    ),
    (
        "[[axes]]",
        "[[axes]]\nname = \"rate\"\npath = \"links[0].rate\"\nvalues = [\"1 Mbit/s\"]\n\
         [[axes]]\nname = \"again\"\npath = \"links.bottleneck.rate\"\nvalues = [\"2 Mbit/s\"]\n[[axes]]",
        "a.toml:26: axes[1]: links.bottleneck.rate: axes[0] varies this field already; give one axis all the values",
    ),
    // Notations of other tools.
    ("56 kbit/s", "1 Mbps", AS_TC),
    ("56 kbit/s", "5mbit", r#"a.toml:12: links[0].rate: `5mbit`: write "5 Mbit/s""#),
    (
        "56 kbit/s",
        "1 MB/s",
        r#"a.toml:12: links[0].rate: `1 MB/s`: bytes a second are not known here; write "8 Mbit/s""#,
    ),
    ("56 kbit/s", "-5 Mbit/s", "a.toml:12: links[0].rate: `-5 Mbit/s`: a rate cannot be negative"),
    ("15 packets", "60KB", r#"a.toml:6: defaults.buffer: `60KB`: write "60 kB", or "60 KiB" for 1024 bytes each"#),
    (
        "queue = \"fq\"\n",
        "queue = \"fq-codel\"\n",
        "a.toml:7: defaults.queue: `fq-codel` is no part of a queue; did you mean fq_codel?",
    ),
    (
        "queue = \"fq\"\n",
        "queue = \"fq_codel(target=5)\"\n",
        r#"a.toml:7: defaults.queue.design.target: write a time as text with a unit, like "5 s" or "5 ms", not `5`"#,
    ),
    (
        "transport = \"generic\"",
        "transport = \"tcp\"",
        "a.toml:19: flows[0].transport.kind: `tcp` is not known here; did you mean cubic?",
    ),
    (
        "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
        "queue = \"wfq(weights=3)\"",
        "a.toml:13: links[0].queue.scheduler.weights: wfq has no settings; a flow's weight is `weight = 3` in [[flows]]",
    ),
    ("weight = 2", "count = -2", "a.toml:20: flows[0].count: write a whole number from 1 to 1000000, not `-2`"),
    (
        "rate = \"56 kbit/s\"",
        "rate = \"56 kbit/s\"\nloss = \"1 in 100\"",
        r#"a.toml:13: links[0].loss: `1 in 100`: a loss is a part of the packets, as 0.01, "1%" or "2%@burst=5""#,
    ),
    // Common names of settings, and settings under both names.
    (
        "transport = \"generic\"",
        "transport = \"cubic(beta=0.7, decrease=0.7)\"",
        "a.toml:19: flows[0].transport.beta: beta is another name of decrease, which is given too; leave one out",
    ),
    (
        "packet = \"1000 B\"",
        "mss = 1460",
        r#"a.toml:18: flows[0].traffic.mss: write a size as text with a unit, like "1460 B", not `1460`"#,
    ),
    // A path of an axis that does not exist.
    (
        "values = [{ name = \"a\", set = { \"defaults.queue\" = \"fifo\" } }, { name = \"b\", set = { \"defaults.queue\" = \"fq\" } }]",
        "path = \"default.queue\"\nvalues = [\"fifo\"]",
        "a.toml:24: axes[0].path: default: no such field; did you mean defaults?",
    ),
    (
        "values = [{ name = \"a\", set = { \"defaults.queue\" = \"fifo\" } }, { name = \"b\", set = { \"defaults.queue\" = \"fq\" } }]",
        "path = \"defaults.quue\"\nvalues = [\"fifo\"]",
        "a.toml:24: axes[0].path: defaults.quue: no such field; did you mean queue?",
    ),
    (
        "\"defaults.queue\" = \"fifo\"",
        "\"default.queue\" = \"fifo\"",
        "a.toml:24: axes[0].values[0]: default: no such field; did you mean defaults?",
    ),
    (
        "name = \"policy\"",
        "name = \"time_s\"",
        "a.toml:23: axes[0].name: time_s is a column of the results; choose another name",
    ),
    ("name = \"policy\"", "name = \"\"", "a.toml:23: axes[0].name: an axis's name is empty; choose another name"),
    // Names that would break a line of a table.
    (
        "name = \"1\"",
        "name = \"1\\u001b[2J\"",
        r#"a.toml:15: flows[0].name: "1\u{1b}[2J" holds a control character; write it without"#,
    ),
    (
        "title = \"a\"",
        "title = \"a\\tb\"\nabout = \"a\\nb\"",
        r#"a.toml:1: title: "a\tb" holds a control character; write it without"#,
    ),
    ("title = \"a\"", "title = \"a\\nb\"", r#"a.toml:1: title: "a\nb" holds a control character; write it without"#),
    // Whole files.
    ("[[flows]]", "[[flow]]", "a.toml:14: flow: no such field; did you mean flows?"),
    (
        "[[links]]",
        "[links]",
        r#"a.toml:8: links: write a list, like ["a", "b"] or one [[table]] after another, not a table"#,
    ),
    ("title = \"a\"", "title = \"a", r#"a.toml:1: not TOML: invalid basic string, expected `"`"#),
    ("title = \"a\"", "title = \"a\"\ntitle = \"b\"", "a.toml:2: not TOML: duplicate key"),
    ("title = \"a\"", "title = 7", "a.toml:1: title: write text in quotes, not `7`"),
    (
        "[measure]\nduration = \"1 s\"\nseed = 3\n",
        "measure = [\"0 s\", \"1 s\", 3, 1]\n",
        "a.toml:2: measure: write a table of fields, not a list",
    ),
];

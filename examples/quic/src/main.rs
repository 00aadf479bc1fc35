//! Uploads 200 kB beside a flood, behind each of several queues, and prints what it took.

fn main() {
    for text in ["fifo + 100packets", "drr + 100packets", "fq + 100packets", "fq_codel"] {
        let queue = match fairq_text::queue(text) {
            Ok(queue) => queue,
            Err(fault) => return eprintln!("{fault}"),
        };
        let upload = quic_over_fq::upload(&queue, 200_000);
        let (seconds, sent, dropped) = (upload.finished.as_s(), upload.sent, upload.dropped);
        println!("{text:18} done after {seconds:6.2} s; {sent} packets, of which {dropped} were dropped");
    }
}

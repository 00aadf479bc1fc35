//! Whether a program in a host waits for others.

use std::fs;

/// Whether any socket of the calling thread's namespace listens, or takes datagrams at a port.
pub(crate) fn is_any() -> bool {
    // Not `/proc/net`: that is the namespace of the process' first thread.
    ["tcp", "tcp6", "udp", "udp6"].iter().any(|table| {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{table}")).unwrap_or_default();
        listens(&text, table.starts_with("tcp"))
    })
}

/// Whether a table has a row of a socket that waits: of TCP in the state LISTEN (0A), of UDP bound
/// but not connected (07).
fn listens(table: &str, is_tcp: bool) -> bool {
    let state = if is_tcp { "0A" } else { "07" };
    table.lines().skip(1).any(|line| line.split_whitespace().nth(3) == Some(state))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1451 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 20391 1 0000000000000000
   1: 0100007F:0277 0100007F:1451 01 00000000:00000000 00:00000000 00000000     0        0 20392 1 0000000000000000
";

    #[test]
    fn a_socket_that_listens_is_seen_and_a_connected_one_is_not() {
        assert!(listens(TABLE, true));
        assert!(!listens(&TABLE.replace(" 0A ", " 01 "), true));
        assert!(!listens(TABLE, false));
        assert!(listens(&TABLE.replace(" 01 ", " 07 "), false));
    }

    #[test]
    fn a_listener_of_this_process_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(is_any(), "{listener:?}");
    }
}

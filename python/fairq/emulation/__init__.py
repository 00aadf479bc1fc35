"""Real programs and the real TCP of Linux behind fairq's queues."""

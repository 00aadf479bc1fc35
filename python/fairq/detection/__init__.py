"""`fairq detect`: whether a bottleneck was fair, from the times of packets at both ends."""

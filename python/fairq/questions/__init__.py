"""Questions of one line: words, the one scenario that they make, and what its runs answer."""

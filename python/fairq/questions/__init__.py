"""Questions that one line asks: the words, the one scenario that they make, and the answer that its runs give."""

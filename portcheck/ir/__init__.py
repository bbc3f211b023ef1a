"""Reading the outputs of stages: IR with its accidents taken out, and what it consists of."""

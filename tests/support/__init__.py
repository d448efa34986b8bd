"""What tests share: reading forests plainly, splitting naively, judging random numbers."""

"""What tests of the lab share: data folders, results, and an experiment that fails on purpose."""

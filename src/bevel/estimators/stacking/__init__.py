"""What stacked rotations are made of: learners of one view, folds that are left out, stages."""

"""Parts of stacked rotations: learners of one view, folds that are left out, stages."""

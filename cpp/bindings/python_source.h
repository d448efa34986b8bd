// A Python function as a source of directions.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "bevel/projection/family_settings.h"

// function(seed, (tree, depth), X, y, weight) -> (offset, index, weight); called with the GIL from
// whatever thread grows the node. What it raises reaches the caller of train().
std::shared_ptr<const bevel::DirectionSource> make_python_source(nanobind::object function);

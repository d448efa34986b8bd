# Models by a formula. Data frames become pandas frames, and results plain vectors and matrices.

library_of <- function() {
  reticulate::import("bevel", convert = TRUE)
}

# A data frame as Python reads it: factors stay nominal, dates are dates.
as_frame <- function(data) {
  is_date <- vapply(data, function(column) inherits(column, c("Date", "POSIXt")), logical(1))
  texts <- data
  texts[is_date] <- lapply(data[is_date], function(column) format(column, "%Y-%m-%dT%H:%M:%S"))
  frame <- reticulate::r_to_py(texts)
  if (!any(is_date)) return(frame)
  pandas <- reticulate::import("pandas", convert = FALSE)
  dates <- lapply(texts[is_date], function(column) pandas$to_datetime(reticulate::r_to_py(column)))
  do.call(frame$assign, dates)
}

# A NumPy array as a vector, or as a matrix of its rows.
as_numbers <- function(array) {
  values <- if (inherits(array, "python.builtin.object")) array$tolist() else array
  if (is.list(values)) do.call(rbind, lapply(values, unlist)) else values
}

# The names of the predictors, and the target: a vector, or the times and events of Surv().
read_formula <- function(formula, data) {
  formula <- terms(formula, data = data)
  predictors <- attr(formula, "term.labels")
  unknown <- setdiff(predictors, names(data))
  if (length(unknown)) {
    stop(
      "The right side of the formula must be columns of data joined by +; got ",
      paste(unknown, collapse = ", "), ". Add such columns to data first.",
      call. = FALSE
    )
  }
  left <- attr(formula, "variables")[[2]]
  if (is.call(left) && identical(as.character(left[[1]]), "Surv")) {
    parts <- lapply(as.list(left)[-1], eval, envir = data, enclos = environment(formula))
    return(list(names = predictors, target = parts, task = "survival"))
  }
  target <- eval(left, data, environment(formula))
  task <- if (is.numeric(target)) "regression" else "classification"
  list(names = predictors, target = target, task = task)
}

fit_model <- function(kinds, formula, data, weights, arguments, call) {
  read <- read_formula(formula, data)
  kind <- kinds[[read$task]]
  if (is.null(kind)) {
    stop(
      "This model must have a target of ", paste(names(kinds), collapse = " or "), "; got ",
      read$task, ". Use bevel_forest.",
      call. = FALSE
    )
  }
  if (!is.null(arguments$random_state)) {
    arguments$random_state <- as.integer(arguments$random_state)
  }
  whole <- vapply(arguments, function(x) is.numeric(x) && length(x) == 1 && x == round(x), NA)
  arguments[whole] <- lapply(arguments[whole], as.integer)
  model <- do.call(library_of()[[kind]], arguments)
  target <- switch(read$task,
    survival = do.call(reticulate::tuple, lapply(read$target, as.numeric)),
    regression = as.numeric(read$target),
    classification = as.character(read$target)
  )
  given <- if (is.null(weights)) list() else list(sample_weight = as.numeric(weights))
  do.call(model$fit, c(list(as_frame(data[read$names]), target), given))
  levels <- if (read$task == "classification") levels(as.factor(read$target))
  structure(
    list(model = model, names = read$names, task = read$task, levels = levels, call = call),
    class = "bevel"
  )
}

bevel_forest <- function(formula, data, weights = NULL, ...) {
  kinds <- list(
    classification = "ObliqueForestClassifier",
    regression = "ObliqueForestRegressor",
    survival = "ObliqueSurvivalForest"
  )
  fit_model(kinds, formula, data, weights, list(...), match.call())
}

bevel_boosting <- function(formula, data, weights = NULL, ...) {
  kinds <- list(
    classification = "ObliqueBoostingClassifier",
    regression = "ObliqueBoostingRegressor"
  )
  fit_model(kinds, formula, data, weights, list(...), match.call())
}

bevel_combined <- function(formula, data, weights = NULL, ...) {
  kinds <- list(classification = "ObliqueClassifier", regression = "ObliqueRegressor")
  fit_model(kinds, formula, data, weights, list(...), match.call())
}

predict.bevel <- function(object, newdata, type = c("response", "prob", "interval", "survival"),
                          coverage = 0.9, times = NULL, ...) {
  type <- match.arg(type)
  missing <- setdiff(object$names, names(newdata))
  if (length(missing)) {
    stop(
      "newdata must have the columns of the fit; it lacks ", paste(missing, collapse = ", "),
      ". Add them.",
      call. = FALSE
    )
  }
  rows <- as_frame(newdata[object$names])
  model <- object$model
  if (type == "prob") {
    found <- as_numbers(model$predict_proba(rows))
    colnames(found) <- unlist(as_numbers(model$classes_))
    return(found)
  }
  if (type == "interval") {
    found <- as_numbers(model$predict_interval(rows, coverage))
    colnames(found) <- c("low", "high")
    return(found)
  }
  if (type == "survival") {
    times <- if (is.null(times)) unlist(as_numbers(model$event_times_)) else as.numeric(times)
    curves <- model$predict_survival_function(rows, as.list(times), return_array = TRUE)
    found <- as_numbers(curves)
    colnames(found) <- times
    return(found)
  }
  found <- as_numbers(model$predict(rows))
  if (object$task == "classification") factor(unlist(found), object$levels) else as.numeric(found)
}

print.bevel <- function(x, ...) {
  cat("Call:", deparse(x$call), "\n", sep = " ")
  cat(reticulate::py_str(x$model), "\n")
  invisible(x)
}

bevel_importance <- function(object, kind = "gini", data = NULL, target = NULL, ...) {
  rows <- if (is.null(data)) NULL else as_frame(data[object$names])
  found <- library_of()$analysis$importance(object$model, kind, rows, target, ...)
  values <- as_numbers(found$values)
  names(values) <- unlist(found$names)
  sort(unlist(values), decreasing = TRUE)
}

bevel_rules <- function(object, data, target, n = 6) {
  given <- if (is.factor(target)) as.character(target) else target
  rules <- library_of()$analysis$rule_set(
    object$model, as_frame(data[object$names]), given,
    n = as.integer(n)
  )
  cat(reticulate::py_str(rules), "\n")
  invisible(rules)
}

bevel_save <- function(object, path) {
  object$model$save(path.expand(path))
  invisible(path)
}

bevel_load <- function(path) {
  model <- library_of()$load(path.expand(path))
  classes <- tryCatch(unlist(as_numbers(model$classes_)), error = function(error) NULL)
  names <- unlist(as_numbers(model$feature_names_in_))
  is_survival <- inherits(model, "bevel.estimators.survival.ObliqueSurvivalForest")
  task <- if (is_survival) "survival" else if (is.null(classes)) "regression" else "classification"
  structure(
    list(model = model, names = names, task = task, levels = classes, call = match.call()),
    class = "bevel"
  )
}

# Run by `Rscript r/tests/test_bevel.R` at the root of the project, or by R CMD check. The Python
# of RETICULATE_PYTHON must have bevel and pandas.

if (requireNamespace("bevel", quietly = TRUE)) library(bevel) else source("r/R/bevel.R")

messy <- function(n) {
  set.seed(0)
  data <- data.frame(dose = rnorm(n), age = runif(n, 20, 80), site = factor(sample(c("u", "v"), n, TRUE)))
  data$when <- as.Date("2024-01-01") + seq_len(n)
  data$dose[seq(1, n, 9)] <- NA
  risk <- ifelse(is.na(data$dose), 0, data$dose) + (data$site == "u") + rnorm(n, sd = 0.2)
  data$outcome <- factor(ifelse(risk > 0.5, "ill", "well"), c("well", "ill"))
  data$cost <- 10 * risk
  data$time <- exp(-risk) + 0.01
  data$event <- as.numeric(seq_len(n) %% 4 > 0)
  data
}

fails <- function(expression, words) {
  message <- tryCatch({ expression; "" }, error = conditionMessage)
  stopifnot(grepl(words, message, fixed = TRUE))
}

if (reticulate::py_module_available("bevel")) {
  data <- messy(200)
  new <- data[1:7, ]
  forest <- bevel_forest(outcome ~ dose + age + site + when, data, n_estimators = 30, random_state = 1)
  classes <- predict(forest, new)
  stopifnot(is.factor(classes), identical(levels(classes), c("well", "ill")))
  shares <- predict(forest, new, type = "prob")
  stopifnot(identical(dim(shares), c(7L, 2L)), all(abs(rowSums(shares) - 1) < 1e-9))
  stopifnot(identical(colnames(shares)[max.col(shares)], as.character(classes)))
  stopifnot(mean(predict(forest, data) == data$outcome) > 0.9)

  dots <- bevel_forest(cost ~ . - outcome - time - event, data, keep_targets = TRUE)
  stopifnot(identical(dots$names, c("dose", "age", "site", "when")))
  interval <- predict(dots, new, type = "interval", coverage = 0.8)
  stopifnot(identical(dim(interval), c(7L, 2L)), all(interval[, "low"] <= interval[, "high"]))

  boosted <- bevel_boosting(cost ~ dose + site, data, weights = rep(1, 200), max_iter = 20)
  stopifnot(cor(predict(boosted, data), data$cost) > 0.8)
  both <- bevel_combined(outcome ~ dose + site, data, quality = 1)
  stopifnot(mean(predict(both, data) == data$outcome) > 0.8)

  alive <- bevel_forest(Surv(time, event) ~ dose + site, data, n_estimators = 20)
  curves <- predict(alive, new, type = "survival", times = c(0.2, 0.5))
  stopifnot(identical(dim(curves), c(7L, 2L)), all(curves[, 1] >= curves[, 2]))

  importance <- bevel_importance(forest)
  stopifnot(names(importance)[1] %in% c("dose", "site"))
  file <- tempfile(fileext = ".bevel")
  bevel_save(forest, file)
  again <- bevel_load(file)
  stopifnot(identical(predict(again, new, type = "prob"), shares))
  fails(bevel_forest(cost ~ log(age), data), "columns of data joined by +")
  fails(predict(forest, data["age"]), "it lacks dose, site, when")
  fails(bevel_boosting(Surv(time, event) ~ dose, data), "Use bevel_forest")
  bevel_rules(forest, data, data$outcome, n = 2)
  print(forest)
  cat("all tests passed\n")
}

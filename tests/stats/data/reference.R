# Reference values of the statistics, computed by R from samples.csv and written to reference.csv.
#
# Rscript reference.R        (in this folder; R 4.2.2 with the packages survival, boot, multcomp and coin)
#
# Rows are set, quantity, value. What R or its packages do not have is computed from its definition, in base R.
# Differences are candidate less baseline.

suppressMessages({
  library(survival)
  library(boot)
  library(multcomp)
  library(coin)
})
set.seed(1)

samples <- read.csv("samples.csv", stringsAsFactors = FALSE)
rows <- list()
note <- function(set, quantity, value) {
  rows[[length(rows) + 1]] <<- data.frame(set, quantity, value = sprintf("%.17g", as.numeric(value)))
}
ends <- function(set, quantity, interval) {
  note(set, paste0(quantity, ".low"), interval[1])
  note(set, paste0(quantity, ".high"), interval[2])
}
sample_of <- function(set, sample) samples$value[samples$set == set & samples$sample == sample]
names_of <- function(set) unique(samples$sample[samples$set == set])
root <- function(f, interval) uniroot(f, interval, tol = 1e-13, extendInt = "yes")$root

describe <- function(set, x, name) {
  at <- function(quantity) paste(name, quantity, sep = ".")
  n <- length(x)
  s <- sd(x)
  away <- x - mean(x)
  away <- away - mean(away)  # what a mean around 1e9 is rounded by
  m <- function(k) mean(away^k)
  note(set, at("mean"), mean(x))
  note(set, at("sd"), s)
  ends(set, at("mean.interval"), t.test(x)$conf.int)
  ends(set, at("sd.interval"), s * sqrt((n - 1) / qchisq(c(.975, .025), n - 1)))
  note(set, at("iqr"), IQR(x))
  note(set, at("mad"), mad(x, constant = 1 / qnorm(.75)))
  note(set, at("skewness"), sqrt(n * (n - 1)) / (n - 2) * m(3) / m(2)^1.5)
  note(set, at("kurtosis"), (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (m(4) / m(2)^2 - 3) + 6))
}

two_samples <- function(set, margin, is_paired) {
  b <- sample_of(set, "baseline")
  a <- sample_of(set, "candidate")
  n_a <- length(a)
  n_b <- length(b)
  values <- c(a, b)
  side <- factor(rep(c("candidate", "baseline"), c(n_a, n_b)), c("candidate", "baseline"))
  describe(set, b, "baseline")
  describe(set, a, "candidate")

  for (kind in c("welch", "student")) {
    test <- t.test(a, b, var.equal = kind == "student")
    note(set, paste0(kind, ".t"), test$statistic)
    note(set, paste0(kind, ".df"), test$parameter)
    note(set, paste0(kind, ".p"), test$p.value)
  }
  ends(set, "welch.interval", t.test(a, b)$conf.int)
  note(set, "tost.above.p", t.test(a, b, mu = -margin, alternative = "greater")$p.value)
  note(set, "tost.below.p", t.test(a, b, mu = margin, alternative = "less")$p.value)
  note(set, "tost.margin", margin)
  ends(set, "tost.interval", t.test(a, b, conf.level = .9)$conf.int)

  # Effect sizes: pooled d; g and its noncentral t interval (Hedges 1981); delta of Glass; unweighted d.
  k <- n_a + n_b - 2
  pooled <- sqrt(((n_a - 1) * var(a) + (n_b - 1) * var(b)) / k)
  d <- (mean(a) - mean(b)) / pooled
  j <- exp(lgamma(k / 2) - lgamma((k - 1) / 2)) / sqrt(k / 2)
  unit <- sqrt(1 / n_a + 1 / n_b)
  ncp <- function(p) root(function(x) pt(d / unit, k, ncp = x) - p, d / unit + c(-1, 1))
  note(set, "cohens_d", d)
  note(set, "cohens_d_unweighted", (mean(a) - mean(b)) / sqrt((var(a) + var(b)) / 2))
  note(set, "hedges_g", d * j)
  ends(set, "hedges_g.interval", (if (k >= 14) j else 1) * unit * c(ncp(.975), ncp(.025)))
  note(set, "glass_delta", (mean(a) - mean(b)) / sd(b))

  # Ranks. wilcox.test is exact only without ties; coin also with them.
  u <- sum(rank(values)[1:n_a]) - n_a * (n_a + 1) / 2
  note(set, "mann_whitney.u", u)
  note(set, "cliffs_delta", mean(sign(outer(a, b, "-"))))
  if (!anyDuplicated(values)) note(set, "mann_whitney.p", wilcox.test(a, b, exact = TRUE)$p.value)
  if (n_a == n_b && n_a < 13) {
    if (anyDuplicated(values)) note(set, "mann_whitney.p", pvalue(wilcox_test(values ~ side, distribution = "exact")))
    away <- combn(values, n_a, sum) - n_a * mean(values)
    note(set, "permutation.p", mean(abs(away) >= abs(sum(a) - n_a * mean(values)) * (1 - 1e-9)))
  }
  ks <- ks.test(a, b, exact = TRUE)
  note(set, "ks.d", ks$statistic)
  note(set, "ks.p", ks$p.value)

  # P(A > B) + P(equal) / 2 on the logit scale: placements of Brunner & Munzel (2000).
  placed_a <- rank(values)[1:n_a] - rank(a)
  placed_b <- rank(values)[n_a + 1:n_b] - rank(b)
  p <- mean(placed_a) / n_b
  parts <- c(var(placed_a) / n_b^2 / n_a, var(placed_b) / n_a^2 / n_b)
  df <- sum(parts)^2 / sum(parts^2 / (c(n_a, n_b) - 1))
  half <- qt(.975, df) * sqrt(sum(parts)) / (p * (1 - p))
  note(set, "superiority", p)
  if (p > 0 && p < 1) ends(set, "superiority.interval", plogis(qlogis(p) + c(-1, 1) * half))

  # Spread.
  for (centre in c("median", "mean")) {
    middle <- get(centre)
    away <- abs(c(a - middle(a), b - middle(b)))
    table <- anova(lm(away ~ side))
    note(set, paste0("levene.", centre, ".f"), table$"F value"[1])
    note(set, paste0("levene.", centre, ".p"), table$"Pr(>F)"[1])
  }
  ratio <- var.test(a, b)
  note(set, "sd_ratio", sqrt(ratio$estimate))
  ends(set, "sd_ratio.interval", sqrt(ratio$conf.int))
  note(set, "f.p", ratio$p.value)

  # Fieller's interval of mean(a) / mean(b), at the degrees of freedom of Welch at the estimated ratio.
  r <- mean(a) / mean(b)
  parts <- c(var(a) / n_a, r^2 * var(b) / n_b)
  t <- qt(.975, sum(parts)^2 / sum(parts^2 / (c(n_a, n_b) - 1)))
  if (t^2 * var(b) / n_b < mean(b)^2) {
    beyond <- function(x) (mean(a) - x * mean(b))^2 - t^2 * (var(a) / n_a + x^2 * var(b) / n_b)
    far <- 10 * t * sqrt(sum(parts)) / abs(mean(b))
    note(set, "mean_ratio", r)
    ends(set, "mean_ratio.interval", c(root(beyond, c(r - far, r)), root(beyond, c(r, r + far))))
  }

  if (is_paired) {
    test <- t.test(a, b, paired = TRUE)
    note(set, "paired.t", test$statistic)
    note(set, "paired.p", test$p.value)
    ends(set, "paired.interval", test$conf.int)
    note(set, "paired.correlation", cor(a, b))
    difference <- round(a - b, 10)
    if (all(difference != 0) && !anyDuplicated(abs(difference))) {
      note(set, "wilcoxon.p", wilcox.test(difference, exact = TRUE)$p.value)
    } else {
      # Zeros are dropped, ranks are averaged, signs are flipped in all ways.
      ranks <- rank(abs(difference[difference != 0]))
      flips <- as.matrix(expand.grid(rep(list(0:1), length(ranks))))
      w <- sum(ranks[difference[difference != 0] > 0])
      plus <- flips %*% ranks
      note(set, "wilcoxon.p", min(1, 2 * min(mean(plus >= w - 1e-9), mean(plus <= w + 1e-9))))
    }
  }
}

bootstrap <- function(set) {
  # boot.ci interpolates between order statistics and samples anew: equal up to resampling error.
  x <- sample_of(set, "baseline")
  drawn <- function(statistic) boot(x, function(x, i) statistic(x[i]), R = 199999)
  for (name in c("mean", "sd")) {
    found <- drawn(get(name))
    ends(set, paste0("bca.", name), boot.ci(found, type = "bca", L = empinf(found, type = "jack"))$bca[4:5])
  }
  for (name in c("mean", "median")) {
    ends(set, paste0("percentile.", name), boot.ci(drawn(get(name)), type = "perc")$percent[4:5])
  }
}

several <- function(set) {
  group <- factor(samples$sample[samples$set == set], names_of(set))
  value <- samples$value[samples$set == set]
  for (test in c("anova", "welch_anova")) {
    found <- oneway.test(value ~ group, var.equal = test == "anova")
    note(set, paste0(test, ".f"), found$statistic)
    note(set, paste0(test, ".df"), found$parameter[2])
    note(set, paste0(test, ".p"), found$p.value)
  }
  kruskal <- kruskal.test(value ~ group)
  note(set, "kruskal_wallis.h", kruskal$statistic)
  if (min(table(group)) >= 10) {
    note(set, "kruskal_wallis.p", kruskal$p.value)
  } else {
    permuted <- kruskal_test(value ~ group, distribution = approximate(nresample = 99999))
    note(set, "kruskal_wallis.p", pvalue(permuted))
  }
  contrasts <- glht(aov(value ~ group), linfct = mcp(group = "Dunnett"))
  tests <- summary(contrasts, test = adjusted("single-step", abseps = 1e-6, maxpts = 1e6))$test
  intervals <- confint(contrasts, calpha = adjusted_calpha(abseps = 1e-6, maxpts = 1e6))$confint
  for (i in seq_along(tests$pvalues)) {
    name <- names_of(set)[i + 1]
    note(set, paste0("dunnett.", name, ".p"), tests$pvalues[i])
    ends(set, paste0("dunnett.", name, ".interval"), intervals[i, 2:3])
  }
  welch <- pairwise.t.test(value, group, pool.sd = FALSE, p.adjust.method = "holm")$p.value
  for (one in rownames(welch)) for (other in colnames(welch)) {
    if (!is.na(welch[one, other])) note(set, paste("pair", one, other, "p", sep = "."), welch[one, other])
  }
}

tasks <- function(set) {
  scores <- sapply(names_of(set), function(name) sample_of(set, name))
  n <- nrow(scores)
  k <- ncol(scores)
  test <- friedman.test(scores)
  note(set, "friedman.chi2", test$statistic)
  long <- data.frame(score = c(scores), name = factor(rep(1:k, each = n)), task = factor(rep(1:n, k)))
  permuted <- friedman_test(score ~ name | task, data = long, distribution = approximate(nresample = 99999))
  note(set, "friedman.p", pvalue(permuted))
  # Rank 1 is best; critical difference and p of Nemenyi (Demsar 2006).
  ranks <- colMeans(t(apply(-scores, 1, rank)))
  se <- sqrt(k * (k + 1) / (6 * n))
  note(set, "critical_difference", qtukey(.95, k, Inf) / sqrt(2) * se)
  for (name in names(ranks)) note(set, paste0("rank.", name), ranks[name])
  for (i in 2:k) for (j in 1:(i - 1)) {
    p <- ptukey(abs(ranks[i] - ranks[j]) / se * sqrt(2), k, Inf, lower.tail = FALSE)
    note(set, paste("nemenyi", names(ranks)[i], names(ranks)[j], "p", sep = "."), p)
  }
  note(set, "iqm.base", mean(sample_of(set, "base"), trim = .25))
}

time_to_target <- function(set) {
  time <- c(sample_of(set, "baseline"), sample_of(set, "candidate"))
  reached <- c(sample_of(set, "baseline reached"), sample_of(set, "candidate reached"))
  n_b <- length(sample_of(set, "baseline"))
  side <- c(rep(0, n_b), rep(1, length(time) - n_b))
  log_rank <- function(side) survdiff(Surv(time, reached) ~ side)$chisq
  observed <- log_rank(side)
  note(set, "log_rank.chi2", observed)
  if (choose(length(time), n_b) < 5000) {
    arranged <- combn(length(time), n_b, function(i) log_rank(as.numeric(!seq_along(time) %in% i)))
    note(set, "log_rank.p", mean(arranged >= observed - 1e-9))
  }
  for (name in c("baseline", "candidate")) {
    of_side <- side == (name == "candidate")
    curve <- survfit(Surv(time[of_side], reached[of_side]) ~ 1, conf.type = "log-log")
    median <- quantile(curve, .5)
    note(set, paste0(name, ".median"), median$quantile)
    ends(set, paste0(name, ".median.interval"), c(median$lower, median$upper))
    for (i in seq_along(curve$time)) note(set, paste0(name, ".survival.", curve$time[i]), curve$surv[i])
  }
}

margins <- c(four = 3, `five tied` = .02, unequal = 5, `twelve pairs` = .03, `seven pairs` = .5,
             `pairs with zeros` = .03, offset = 3, thirty = .003, times = 7)
for (set in names(margins)) two_samples(set, margins[set], grepl("pairs", set))
for (set in c("twelve pairs", "thirty")) bootstrap(set)
for (set in c("four groups", "three uneven groups", "three large groups")) several(set)
for (set in c("six tasks", "five tasks tied")) tasks(set)
for (set in c("reached", "censored", "seldom reached")) time_to_target(set)

for (of in list(c(10, 10), c(9, 10), c(8, 10), c(0, 8), c(5, 20), c(99, 100))) {
  ends("completion", paste(of[1], of[2], sep = "/"), binom.test(of[1], of[2])$conf.int)
}
for (p in list(c(.01, .02, .03, .04), c(.04, .001, .2, .03, .03, .9), c(.5, .6))) {
  adjusted_p <- p.adjust(p, "holm")
  for (i in seq_along(p)) note("adjusted", paste("holm", paste(p, collapse = " "), i, sep = "|"), adjusted_p[i])
}
for (n in c(3, 5, 8, 30)) {
  note("power", paste0("delta.n", n), power.t.test(n = n, power = .8, tol = 1e-10)$delta)
}
for (delta in c(.5, .8, 1, 2)) {
  note("power", paste0("n.delta", delta), ceiling(power.t.test(delta = delta, power = .8, tol = 1e-10)$n))
}
for (ratio in c(1.25, 1.5, 2, 3)) {
  power <- function(n) pf(qf(.975, n - 1, n - 1) / ratio^2, n - 1, n - 1, lower.tail = FALSE)
  note("power", paste0("n.sd_ratio", ratio), which(sapply(2:400, power) >= .8)[1] + 1)
}

write.csv(do.call(rbind, rows), "reference.csv", row.names = FALSE, quote = FALSE)

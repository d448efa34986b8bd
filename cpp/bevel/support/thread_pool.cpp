#include "bevel/support/thread_pool.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "bevel/support/arithmetic/float_environment.h"

namespace bevel {
namespace {

// Least number of operations of a job that is worth another thread.
constexpr size_t kWorkOfJob = 1 << 14;

}  // namespace

int useful_threads(int n_requested, size_t n_parts) {
  constexpr size_t kMaxPerCore = 4;
  const size_t n_cores = std::max(1u, std::thread::hardware_concurrency());
  const auto n = static_cast<size_t>(std::max(1, n_requested));
  return static_cast<int>(std::max<size_t>(1, std::min({n, n_parts, n_cores * kMaxPerCore})));
}

void ThreadPool::run(const Progress& progress) {
  constexpr auto kInterval = std::chrono::milliseconds(50);
  CancellationToken* caller = CancellationToken::current();
  if ((n_threads_ == 1 && !progress) || !start_threads()) {
    work_alone();
  } else {
    while (!wait_for(kInterval))
      if ((caller && caller->is_stopped()) || (progress && !progress(jobs_done()))) cancel();
    join();
  }
  if (error_) std::rethrow_exception(error_);
  throw_if_cancelled();
}

// If the system cannot start all threads, the jobs are divided among those that were started.
bool ThreadPool::start_threads() {
  threads_.reserve(static_cast<size_t>(n_threads_));
  try {
    for (int w = 0; w < n_threads_; ++w) threads_.emplace_back([this, w] { worker_loop(w); });
  } catch (const std::system_error&) {
  }
  return !threads_.empty();
}

void ThreadPool::work_alone() {
  if (CancellationToken* caller = CancellationToken::current())
    token_.set_callback([caller] { return caller->is_stopped(); });
  worker_loop(0);
}

ThreadPool::~ThreadPool() {
  cancel();
  join();
}

void ThreadPool::join() {
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
}

void ThreadPool::cancel() {
  {
    std::lock_guard lock(mutex_);
    token_.cancel();
    next_job_ = n_jobs_;
  }
  changed_.notify_all();
}

void ThreadPool::store_error(std::exception_ptr error) {
  {
    std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }
  cancel();
}

void ThreadPool::run_part(Part part, int worker) {
  std::exception_ptr error;
  try {
    throw_if_cancelled();
    part.work(worker);
  } catch (...) {
    error = std::current_exception();
  }
  {
    std::lock_guard lock(mutex_);
    if (error && !part.owner->error_) part.owner->error_ = error;
    --part.owner->pending_;
  }
  changed_.notify_all();
}

void ThreadPool::worker_loop(int worker) {
  const PlainArithmetic arithmetic;
  const CancellationScope scope(token_);
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!parts_.empty()) {
      Part part = std::move(parts_.front());
      parts_.pop_front();
      lock.unlock();
      run_part(std::move(part), worker);
      lock.lock();
    } else if (next_job_ < n_jobs_) {
      const size_t job = next_job_++;
      ++running_jobs_;
      lock.unlock();
      try {
        run_job_(worker, job);
        jobs_done_.fetch_add(1, std::memory_order_relaxed);
        poll_cancellation(kWorkOfJob);
      } catch (const Cancelled&) {
        cancel();  // a calling thread that works alone stops here
      } catch (...) {
        store_error(std::current_exception());
      }
      lock.lock();
      --running_jobs_;
      if (running_jobs_ == 0 && next_job_ >= n_jobs_) changed_.notify_all();
    } else if (running_jobs_ == 0) {
      return;
    } else {
      ++n_idle_;
      changed_.wait(lock);
      --n_idle_;
    }
  }
}

bool ThreadPool::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time,
                           [this] { return running_jobs_ == 0 && next_job_ >= n_jobs_; });
}

void Parts::offer(ThreadPool::Work work) {
  {
    std::lock_guard lock(pool_.mutex_);
    ++pending_;
    pool_.parts_.push_back({std::move(work), this});
  }
  pool_.changed_.notify_all();
}

void Parts::wait(int worker, bool any) {
  {
    std::unique_lock lock(pool_.mutex_);
    while (pending_ > 0) {
      const auto part =
          std::find_if(pool_.parts_.begin(), pool_.parts_.end(),
                       [&](const ThreadPool::Part& p) { return any || p.owner == this; });
      if (part == pool_.parts_.end()) {
        if (any) ++pool_.n_idle_;
        pool_.changed_.wait(lock);
        if (any) --pool_.n_idle_;
        continue;
      }
      ThreadPool::Part taken = std::move(*part);
      pool_.parts_.erase(part);
      lock.unlock();
      pool_.run_part(std::move(taken), worker);
      lock.lock();
    }
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

Parts::~Parts() {
  std::unique_lock lock(pool_.mutex_);
  const size_t n_withdrawn = std::erase_if(
      pool_.parts_, [this](const ThreadPool::Part& part) { return part.owner == this; });
  pending_ -= n_withdrawn;
  while (pending_ > 0) pool_.changed_.wait(lock);
}

}  // namespace bevel

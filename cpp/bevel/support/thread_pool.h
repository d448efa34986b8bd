// A pool of threads for one call. No thread outlives the call, so fork() is safe between calls.
// Jobs (trees) are taken in order; idle threads take parts of a running job, and a thread that
// waits for parts works on parts meanwhile. Results must not depend on the thread of a job.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "bevel/support/cancellation.h"

namespace bevel {

// Threads worth starting when `n_requested` are allowed and the work has `n_parts` that can be done
// side by side: no more than parts, nor than a few for each core, and at least one.
int useful_threads(int n_requested, size_t n_parts);

class ThreadPool {
 public:
  using Work = std::function<void(int worker)>;
  // Called with the number of jobs done; returns false to stop.
  using Progress = std::function<bool(size_t jobs_done)>;

  // n_parts: the number of all parts where jobs have parts; it may exceed the number of jobs.
  ThreadPool(int n_threads, size_t n_jobs, std::function<void(int worker, size_t job)> run_job,
             size_t n_parts = 0)
      : run_job_(std::move(run_job)),
        n_jobs_(n_jobs),
        n_threads_(useful_threads(n_threads, n_parts ? n_parts : n_jobs)) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Runs all jobs. Throws the first exception of a worker, and Cancelled when `progress` returns
  // false or the token of the calling thread is cancelled; all threads have ended then. The calling
  // thread does the work when one is enough and `progress` is null, or when no thread can start.
  void run(const Progress& progress = nullptr);
  int size() const { return n_threads_; }  // workers are numbered from 0 to size() - 1
  size_t jobs_done() const { return jobs_done_.load(std::memory_order_relaxed); }
  void throw_if_cancelled() const { token_.throw_if_cancelled(); }
  // True when some thread has nothing to do.
  bool has_idle() const { return n_idle_.load(std::memory_order_relaxed) > 0; }

 private:
  friend class Parts;
  struct Part {
    Work work;
    class Parts* owner;
  };

  // False when none could be started.
  bool start_threads();
  void work_alone();
  void worker_loop(int worker);
  // Waits until all is done or the time is up; returns true when done.
  bool wait_for(std::chrono::milliseconds time);
  void cancel();
  void join();
  void run_part(Part part, int worker);
  void store_error(std::exception_ptr error);

  std::function<void(int, size_t)> run_job_;
  const size_t n_jobs_;
  size_t next_job_ = 0;
  size_t running_jobs_ = 0;
  std::deque<Part> parts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<size_t> jobs_done_{0};
  std::atomic<int> n_idle_{0};
  CancellationToken token_;
  std::exception_ptr error_;
  const int n_threads_;
  std::vector<std::thread> threads_;
};

// Parts of one job, offered to the pool; wait() returns when all of them are done.
class Parts {
 public:
  explicit Parts(ThreadPool& pool) : pool_(pool) {}
  ~Parts();  // drops parts that no thread has begun, waits for the others
  void offer(ThreadPool::Work work);
  // Works on parts until its own are done; rethrows their exceptions. `any` allows parts of other
  // jobs, which use the worker's work space.
  void wait(int worker, bool any);

 private:
  friend class ThreadPool;

  ThreadPool& pool_;
  size_t pending_ = 0;  // guarded by the pool's mutex
  std::exception_ptr error_;
};

}  // namespace bevel

// A crew of threads that lives for one call: no pool outlives it, so fork() finds nothing to break.
// Jobs (trees) are taken in order; parts of a job are offered to whoever is idle, and a thread that
// waits for parts works on parts meanwhile. Results must not depend on who did what.
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

namespace bevel {

// Thrown inside workers when the caller asked to stop.
struct Cancelled {};

class Crew {
 public:
  using Work = std::function<void(int worker)>;

  Crew(size_t n_jobs, std::function<void(int worker, size_t job)> run_job)
      : run_job_(std::move(run_job)), n_jobs_(n_jobs) {}
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void start(int n_threads);
  int size() const { return n_threads_; }
  size_t jobs_done() const { return jobs_done_.load(std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  void throw_if_cancelled() const {
    if (cancelled()) throw Cancelled{};
  }
  void cancel();
  // True when some thread has nothing to do.
  bool has_idle() const { return n_idle_.load(std::memory_order_relaxed) > 0; }
  // Waits until all is done or the time is over; true when done. Call from outside the crew.
  bool wait_for(std::chrono::milliseconds time);
  // Joins and throws the first exception that a worker met.
  void finish();

 private:
  friend class Parts;
  struct Part {
    Work work;
    class Parts* owner;
  };

  void worker_loop(int worker);
  void run_part(Part part, int worker);
  void remember(std::exception_ptr error);

  std::function<void(int, size_t)> run_job_;
  const size_t n_jobs_;
  size_t next_job_ = 0;
  size_t running_jobs_ = 0;
  std::deque<Part> parts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<size_t> jobs_done_{0};
  std::atomic<int> n_idle_{0};
  std::atomic<bool> cancelled_{false};
  std::exception_ptr error_;
  int n_threads_ = 0;
  std::vector<std::thread> threads_;
};

// Parts of one job, offered to the crew; wait() returns when all of them are done.
class Parts {
 public:
  explicit Parts(Crew& crew) : crew_(crew) {}
  ~Parts();  // takes back what nobody has begun, waits for the rest
  void offer(Crew::Work work);
  // Works on parts until its own are done; throws what they threw. `any` allows parts of others,
  // which use the worker's work space.
  void wait(int worker, bool any);

 private:
  friend class Crew;

  Crew& crew_;
  size_t pending_ = 0;  // guarded by the crew's mutex
  std::exception_ptr error_;
};

}  // namespace bevel

// Cooperative cancellation of a long call. The caller installs a token on its thread, a thread pool
// installs one on its threads, and long loops poll the token of the thread that runs them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>

namespace bevel {

// Thrown where the work stops after a cancellation.
struct Cancelled {};

class CancellationToken {
 public:
  // Returns true when the call is to stop. Called only on threads on which the token is installed,
  // so that a token with a callback belongs to one thread.
  using StopCallback = std::function<bool()>;

  CancellationToken() = default;
  explicit CancellationToken(StopCallback is_stop_due) : is_stop_due_(std::move(is_stop_due)) {}
  CancellationToken(const CancellationToken&) = delete;
  CancellationToken& operator=(const CancellationToken&) = delete;

  // The token of the calling thread, or null.
  static CancellationToken* current();

  void set_callback(StopCallback is_stop_due) { is_stop_due_ = std::move(is_stop_due); }
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  void throw_if_cancelled() const {
    if (cancelled()) throw Cancelled{};
  }
  // Calls the callback; returns true, also in later calls, when the call is to stop.
  bool is_stopped();
  // As is_stopped(), but calls only a few times a second and throws.
  void poll();

 private:
  using Clock = std::chrono::steady_clock;

  StopCallback is_stop_due_;
  std::atomic<bool> cancelled_{false};
  Clock::time_point last_call_{};
};

// Installs a token on the calling thread during its lifetime.
class CancellationScope {
 public:
  explicit CancellationScope(CancellationToken& token);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

 private:
  CancellationToken* before_;
};

namespace cancellation {

struct ThreadState {
  CancellationToken* token;
  size_t work;  // since the last poll of the token
};
extern constinit thread_local ThreadState state;

// About a millisecond.
constexpr size_t kWorkBetweenPolls = size_t{1} << 20;

void poll_token();

}  // namespace cancellation

// Throws Cancelled when the call that this thread works for is to stop. `work`: rough number of
// operations since the last poll or until the next one; between two polls there should be less than
// a tenth of a second of work.
inline void poll_cancellation(size_t work = cancellation::kWorkBetweenPolls) {
  cancellation::ThreadState& state = cancellation::state;
  state.work += work;
  if (state.work >= cancellation::kWorkBetweenPolls) cancellation::poll_token();
}

// Polls as poll_cancellation(work) in step i of a loop whose steps may be as short as a poll.
inline void poll_cancellation_at(size_t i, size_t work) {
  constexpr size_t kSteps = 16;
  if (i % kSteps == kSteps - 1) poll_cancellation(kSteps * work);
}

}  // namespace bevel

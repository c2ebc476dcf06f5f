// SPDX-License-Identifier: Apache-2.0
// How soon a thread gets a processor while others have all of them.
#ifndef TIMING_TURNS_TURNS_H_
#define TIMING_TURNS_TURNS_H_

namespace tritond::timing {

// Each of these is of the calling thread, and of the threads and processes that it starts from then on. Where the
// system does not know it or refuses it, the thread runs as it did.

// Turns of 0.1 ms. A thread that was woken then runs before one in the middle of a longer turn. Otherwise that one
// keeps its processor for milliseconds. For threads that wait most of the time, and that somebody waits for. Linux
// 6.12.
void AskForShortTurns();
// As any other program has them.
void AskForUsualTurns();
// Usual turns, at five levels of niceness more than now: for work that nobody waits for by the millisecond.
void GiveWay();

}  // namespace tritond::timing

#endif  // TIMING_TURNS_TURNS_H_

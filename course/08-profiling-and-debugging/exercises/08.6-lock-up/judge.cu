#include "learn.h"

#include "08.6-lock-up.cu"

int main(void)
{
    for (int players : {32, 1, 50, 97}) {
        int threads = 32;
        learn_case("%d player%s", players, players == 1 ? "" : "s");
        std::vector<int> scores(players);
        int best = 0;
        for (int i = 0; i < players; i++) {
            scores[i] = 10 + (i + 3) * 41 % 101; // all different
            if (scores[i] > scores[best])
                best = i;
        }
        int *device_scores = learn_device(scores), *lock = learn_device(std::vector<int>{0});
        int *best_score = learn_device(std::vector<int>{0}), *best_player = learn_device(std::vector<int>{-1});
        find_best<<<(players + threads - 1) / threads, threads>>>(device_scores, players, lock, best_score,
                                                                  best_player);
        learn_expect("best_score", best_score, std::vector<int>{scores[best]});
        learn_expect("best_player", best_player, std::vector<int>{best});
        learn_expect("lock", lock, std::vector<int>{0});
    }
    return learn_passed();
}

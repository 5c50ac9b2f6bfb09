/**
 * What adaptation brings: people with habits and words of their own, before and after so many sessions; and what one who
 * poisons his use can do to the others.
 *
 *   node --import ./test/support/typescript-loader.mjs test/bench/adaptation-simulation.mjs [--sessions 1000] [--users 20]
 */
import { parseArgs } from 'node:util';
import { simulateHabits } from '../agents/adaptation/simulate.ts';

const { values: flags } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000' },
    users: { type: 'string', default: '20' },
    poison: { type: 'string', default: '1000' },
    seeds: { type: 'string', default: '1,2,3' },
  },
});
const show = (share) => share.toFixed(3);

console.log(`${flags.sessions} sessions of ${flags.users} people with four habits each, coding-agent catalogue\n`);
console.log(
  '| seed | top-1 before | after | top-3 before | after | plain queries, top-3 before | after | others moved by poison |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (const seed of flags.seeds.split(',').map(Number)) {
  const { sessions, users, poison } = flags;
  const options = { sessions: Number(sessions), users: Number(users), poison: Number(poison), seed };
  const { before, after, plainBefore, plainAfter, othersBefore, othersAfter } = await simulateHabits(options);
  const moved = othersBefore.filter((names, place) => names.join() !== othersAfter[place].join()).length;
  const habits = [before.top1, after.top1, before.top3, after.top3].map(show).join(' | ');
  console.log(
    `| ${seed} | ${habits} | ${show(plainBefore.top3)} | ${show(plainAfter.top3)} | ${moved} of ${othersBefore.length} |`,
  );
}

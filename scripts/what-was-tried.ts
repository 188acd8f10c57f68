/**
 * Makes docs/operating/what-was-tried.md of the rows that fault runs wrote into a folder:
 *
 *   SVC_TEST_ROUNDS=42 SVC_TEST_TRIED=<folder> npm test -- test/faults/storm.test.ts
 *   npm run what-was-tried -- <folder>
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tried } from '../test/faults/tried.ts'

const page = 'docs/operating/what-was-tried.md'

const rowsIn = (folder: string): Tried[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .flatMap((name): Tried[] => JSON.parse(readFileSync(join(folder, name), 'utf8')))

/** Runs of the same kind in the same place count as one. */
const summed = (rows: readonly Tried[]): Tried[] => {
  const sums = new Map<string, Tried>()
  for (const row of rows) {
    const key = [row.what, row.where, row.result].join('\n')
    const before = sums.get(key)
    const checked = (row.checked ?? 0) + (before?.checked ?? 0)
    sums.set(key, { ...row, rounds: row.rounds + (before?.rounds ?? 0), ...(checked === 0 ? {} : { checked }) })
  }
  return [...sums.values()].sort((one, other) => (`${one.what}${one.where}` < `${other.what}${other.where}` ? -1 : 1))
}

const number = (value: number): string => value.toLocaleString('en-GB')

const lineOf = ({ what, where, rounds, checked, result }: Tried): string =>
  `| ${what} | ${where} | ${number(rounds)} | ${checked === undefined ? '' : number(checked)} | ${result} |`

const pageOf = (rows: readonly Tried[]): string => {
  const total = rows.reduce((sum, { rounds }) => sum + rounds, 0)
  return `# What was tried

Made by \`npm run what-was-tried\` of what fault runs wrote down; not edited by hand.

**Everything at once**: real processes are killed and frozen at random moments while clients replace paths, send files whole and
in parts, store the same content all at once, delete it with no grace, and promote. Behind a bad disk or store, calls of the
file system are slow, hang or fail, and requests to the object store are slow, denied though they were done, or lose their
answer. After each round every file that was acknowledged is read back and compared bit by bit, every one that was deleted is
looked for, and \`svc doctor\` must find nothing.

**Named points**: a real process is killed at each point of its work that has a name in the code, the next one goes on, and what was
answered, what was not, what is reserved and what \`svc doctor\` says are looked at.

**Power cuts** are played from a record of everything that a service did to its disk: each round makes a disk that a cut could
have left, sector by sector of what was not synced, and starts the service on it. The database must be whole, \`svc doctor\` must
find no damage, and everything that was answered by then is read.

| what was done | where | rounds | read back | result |
| --- | --- | ---: | ---: | --- |
${rows.map(lineOf).join('\n')}

${number(total)} rounds in all. Anyone can run them again:

\`\`\`sh
SVC_TEST_TRIED=/tmp/tried npm test -- test/faults
SVC_TEST_ROUNDS=42 SVC_TEST_TRIED=/tmp/tried npm test -- test/faults/storm.test.ts
SVC_TEST_POWER_CUTS=1000 SVC_TEST_TRIED=/tmp/tried npm test -- test/faults/power-cuts.test.ts
npm run what-was-tried -- /tmp/tried
\`\`\`

Another \`SVC_TEST_SEED\` makes other loads and moments.
`
}

const [folder] = process.argv.slice(2)
if (folder === undefined)
  throw new Error('Name the folder that SVC_TEST_TRIED named: npm run what-was-tried -- <folder>')
const rows = summed(rowsIn(folder))
writeFileSync(page, pageOf(rows))
console.log(`${page}: ${rows.length} rows`)

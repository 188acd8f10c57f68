import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter, resolve } from 'node:path'
import { text } from 'node:stream/consumers'

/** The steps are the `check:*` scripts of package.json. This says in words what it means when one of them fails. */
const meaning: Record<string, string> = {
  types: 'the TypeScript compiler found mistakes',
  style: 'formatting or lint rules are broken; `npm run fix` repairs what can be repaired',
  imports: 'an import crosses a floor, see the table in ARCHITECTURE.md and .dependency-cruiser.mjs',
  syntax: 'a promise floats, or a type is imported where the import table does not see it',
  effects: 'importing a module does something; it should only define things',
  tidy: 'the style that no linter knows: lengths, names, links, settings in documents',
  reference: 'a generated page of docs/reference is out of date; `npm run reference` writes it anew',
  dead: 'an export, file or dependency is used by nobody; delete it',
}

export interface StepResult {
  readonly name: string
  readonly passed: boolean
}

interface Step {
  readonly name: string
  readonly command: string
}

const root = resolve(import.meta.dirname, '../..')

const steps = (): Step[] => {
  const { scripts } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  return Object.entries(scripts)
    .filter(([name]) => name.startsWith('check:'))
    .map(([name, command]) => ({ name: name.slice('check:'.length), command }))
}

const runStep = async ({ name, command }: Step): Promise<StepResult> => {
  const started = performance.now()
  const PATH = [resolve(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter)
  const child = spawn(command, {
    cwd: root,
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH },
  })
  const ended = new Promise<number | null>((settle, fail) => {
    child.on('close', settle)
    child.on('error', fail)
  })
  const [output, errors, status] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  if (status === 0) console.log(`ok      ${name} (${seconds} s)`)
  else console.log(`FAILED  ${name} (${seconds} s): ${meaning[name] ?? command}\n\n${output}${errors}`)
  return { name, passed: status === 0 }
}

/** Runs every step, as many at a time as there are cores, and prints each as it ends. */
export const runSteps = async (): Promise<StepResult[]> => {
  const waiting = steps()
  const results: StepResult[] = []
  const work = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) results.push(await runStep(step))
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), waiting.length) }, work))
  return results
}

import assert from 'node:assert/strict'
import { type ProgramEnvironment, root, startProgram } from '../harness/processes.ts'
import { likeThePage, type Step } from './page.ts'

const mark = '== the next block =='

/** Where the commands of a page are typed. */
export interface Terminal {
  readonly environment: ProgramEnvironment
  readonly cwd?: string
  /** What somebody changes in the commands who is at another place than the page thinks. */
  readonly changed?: (script: string) => string
}

/**
 * Pastes the blocks into one shell, one after another: what each printed, and what was said to `stderr` meanwhile. A
 * command that fails ends the shell, wherever it stands, and fails the test.
 */
export const paste = async (
  steps: readonly Step[],
  { environment, cwd = root, changed = (script) => script }: Terminal,
): Promise<{ printed: string[]; stderr: string }> => {
  const script = changed(steps.map(({ commands }) => `${commands}\necho '${mark}'`).join('\n'))
  const shell = ['-O', 'inherit_errexit', '-euo', 'pipefail', '-c', script]
  const program = startProgram('bash', shell, environment, { cwd })
  const { code } = await program.ended
  const printed = program.stdout().split(`${mark}\n`)
  const stderr = program.stderr()
  assert.equal(code, 0, `${stderr}\n${printed.at(-1)}\nin\n${steps[printed.length - 1]?.commands}`)
  assert.equal(printed.pop(), '')
  return { printed, stderr }
}

/** Fails unless the page says of each block what it printed. */
export const isOnThePage = (steps: readonly Step[], printed: readonly string[]): void => {
  const like = likeThePage()
  for (const [index, { commands, answer }] of steps.entries()) like(answer, printed[index] ?? '', commands)
}

/** Commands of a page, to be typed where the service has this address. */
export const at =
  (address: string) =>
  (script: string): string => {
    assert.ok(script.includes('http://127.0.0.1:8080'), script)
    return script.replaceAll('http://127.0.0.1:8080', address)
  }

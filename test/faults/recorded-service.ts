import { ask, type Told } from '../harness/client.ts'
import { inTheDatabase, inTheStore } from '../harness/kept-inline.ts'
import {
  type Environment,
  keyIn,
  listening,
  type Program,
  settingsFor,
  startProgram,
  svcFile,
} from '../harness/processes.ts'
import type { Recording } from './recorder.ts'

/** A service in a process of its own, recorded over its lives. */
export class RecordedService {
  readonly dataDir: string
  readonly #recording: Recording
  #program: Program | undefined
  #lives = 0
  url = ''

  constructor(dataDir: string, recording: Recording) {
    this.dataDir = dataDir
    this.#recording = recording
  }

  get recoveryKey(): string {
    return keyIn(this.dataDir, 'bootstrap-token.txt')
  }

  ask(asked: Parameters<typeof ask>[1]): Promise<Told> {
    return ask(this.url, asked)
  }

  /**
   * As `svc up`, unless another program is to be it. Each life keeps small files elsewhere than the one before, the
   * first in the store, so that there are both, and some move.
   */
  async start(program = svcFile): Promise<void> {
    const small = this.#lives++ % 2 === 0 ? inTheStore : inTheDatabase
    const environment: Environment = { SVC_CLEANUP_GRACE_HOURS: '0', ...small, ...this.#recording.environment }
    const settings = settingsFor({ dataDir: this.dataDir }, environment)
    this.#program = startProgram(process.execPath, [program, 'up'], settings)
    this.url = await listening(this.#program)
  }

  async end(signal: NodeJS.Signals | null): Promise<number | null> {
    if (signal !== null) this.#program?.child.kill(signal)
    return (await this.#program?.ended)?.code ?? null
  }
}

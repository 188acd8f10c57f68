import assert from 'node:assert/strict'
import { rmSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { MixedLoad, type Promised } from './mixed-load.ts'
import type { Chance } from './modelled-disk.ts'
import { holdsItsPromises, type Readers } from './power-cut-check.ts'
import { RecordedService } from './recorded-service.ts'
import { Recording } from './recorder.ts'
import { type Ignoring, type Recorded, Replay } from './replay.ts'
import { answerOrNone } from './uploads.ts'

/** What a service did in its lives under a load, and who may read what it promised. */
export class RecordOfLives {
  readonly recorded: Recorded
  readonly recording: Recording
  readonly service: RecordedService
  readonly load: MixedLoad

  private constructor(recorded: Recorded, recording: Recording) {
    this.recorded = recorded
    this.recording = recording
    this.service = new RecordedService(join(recorded.root, 'data'), recording)
    this.load = new MixedLoad(this.service, (promised: Promised) => recording.mark(JSON.stringify(promised)))
  }

  static async begin(scratch: string): Promise<RecordOfLives> {
    const root = join(scratch, 'disk')
    await mkdir(root, { recursive: true })
    const { ino: inode } = statSync(root, { bigint: true })
    return new RecordOfLives({ root, inode, scratch }, await Recording.of(root, join(scratch, 'record')))
  }

  get readers(): Readers {
    return { recoveryKey: this.service.recoveryKey, key: this.load.key }
  }

  /** The log of the database cannot be synced any more: the life ends by itself. */
  async failsToSync(): Promise<void> {
    this.recording.failSyncs('/svc.db-wal')
    await answerOrNone(this.load.run(1))
    assert.equal(await this.service.end(null), 74)
    this.recording.failSyncs(null)
  }

  /** Rejects if what a cut leaves after `moment` does not hold what was promised by then. */
  async holdsAfterCut(moment: number, chance: Chance, ignored?: Ignoring): Promise<void> {
    const replay = new Replay(this.recording.changes(), this.recorded, ignored)
    replay.to(moment)
    const left = join(this.recorded.scratch, 'left')
    const known = replay.cut(chance, left)
    try {
      await holdsItsPromises(join(left, 'data'), replay.promises, this.readers, known)
    } finally {
      rmSync(left, { recursive: true })
    }
  }
}

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { partBytesMin } from '../../src/kernel/limits/transfers.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { randomOf } from '../harness/random.ts'
import { until } from '../harness/until.ts'
import { makeKeeper, removeArtifact, restoreArtifact } from './keeper.ts'
import { Site } from './site.ts'
import {
  answerOrNone,
  bytesOf,
  complete,
  type Door,
  doors,
  type File,
  fetchBytes,
  fileOf,
  inChunks,
  inParts,
  openSession,
  partsOf,
  rawPlace,
  sendPart,
  sha256Of,
  storedParts,
  throughSession,
  uploadPlace,
} from './uploads.ts'

/** Sudden death at random moments under load: acknowledged is kept, the rest all or nothing. */
const rounds = 3
const uploaders = 4
const partSenders = 2
const deleters = 2
const filesPerUploader = 3
const seed = process.env['SVC_TEST_SEED'] ?? 'kill'

endProgramsAfterTests()
after(closeConnections)

/** A file that was sent and is not answered. */
interface Sent {
  readonly door: Door
  readonly file: File
}

/** A session of which some parts were acknowledged, and maybe its completion asked for. */
interface Begun {
  readonly file: File
  upload: string | null
  readonly parts: Set<number>
}

/** A file of which nobody knows whether it is deleted. */
interface Doubtful {
  readonly id: string
  readonly place: string
  readonly bytes: Buffer
}

/** What a round leaves open, and how much of each kind was acknowledged in it. */
class Round {
  readonly sent: Sent[] = []
  readonly begun: Begun[] = []
  readonly doubtful: Doubtful[] = []
  readonly acknowledged = { files: 0, parts: 0, completions: 0, deletions: 0, restorations: 0 }
}

/** Null when there was none, because the service is gone or going. Everything but success is a failure. */
const answered = async (sending: Promise<Told>): Promise<Told | null> => {
  const told = await answerOrNone(sending)
  if (told === null || told.status === 503) return null
  assert.ok(told.status < 300, `${told.status} ${told.text}`)
  return told
}

forEachEngine((engine) => {
  let site: Site
  let keeper: string

  before(async () => {
    site = new Site(await mkdtemp(join(tmpdir(), 'svc-kill-')), await engine.readyDatabaseUrl())
    await site.live()
    keeper = await makeKeeper(site)
  })
  after(async () => {
    await site.stop()
    await rm(site.dataDir, { recursive: true, force: true })
  })

  /** New paths, paths that it replaces, sessions. Each client ends with the service. */
  const upload = async (name: string, round: Round): Promise<void> => {
    const random = randomOf(`${seed} ${engine.name} ${name}`)
    for (let count = 0; ; count++) {
      const door = doors[Math.floor(random() * doors.length)] ?? inChunks
      const replaced = door !== throughSession && random() < 0.5
      const path = replaced ? `${name}/replaced-${Math.floor(random() * filesPerUploader)}` : `${name}/${count}`
      const file = fileOf(path, bytesOf(`${seed} ${name} ${count}`, Math.floor(200_000 * random() ** 3)))
      const told = await answered(door.send(site, file))
      if (told === null) {
        round.sent.push({ door, file })
        return
      }
      site.acknowledged.set(door.place(file, told), file.bytes)
      round.acknowledged.files += 1
    }
  }

  /** Sessions in parts, in order and the other way round, and their completion. */
  const uploadInParts = async (name: string, round: Round): Promise<void> => {
    const random = randomOf(`${seed} ${engine.name} ${name}`)
    for (let count = 0; ; count++) {
      const rest = bytesOf(`${seed} ${name} ${count}`, 1 + Math.floor(50_000 * random()))
      const whole = Buffer.alloc(random() < 0.5 ? partBytesMin : 0, `${name} ${count}`)
      const begun: Begun = {
        file: fileOf(`${name}/${count}`, Buffer.concat([whole, rest])),
        upload: null,
        parts: new Set(),
      }
      const told = await sendInAnyOrder(begun, random() < 0.5, round)
      if (told === null) {
        round.begun.push(begun)
        return
      }
      site.acknowledged.set(inParts.place(begun.file, told), begun.file.bytes)
      round.acknowledged.completions += 1
    }
  }

  const sendInAnyOrder = async (begun: Begun, reverse: boolean, round: Round): Promise<Told | null> => {
    const session = await answered(openSession(site, begun.file))
    if (session === null) return null
    begun.upload = uploadPlace(session)
    const parts = [...partsOf(begun.file).entries()]
    for (const [index, part] of reverse ? parts.reverse() : parts) {
      if ((await answered(sendPart(site, begun.upload, index, part))) === null) return null
      begun.parts.add(index)
      round.acknowledged.parts += 1
    }
    return answered(complete(site, begun.upload))
  }

  /** Publishes, deletes, and brings some of it back. */
  const removeSome = async (name: string, round: Round): Promise<void> => {
    const random = randomOf(`${seed} ${engine.name} ${name}`)
    for (let count = 0; ; count++) {
      const file = fileOf(`${name}/${count}`, bytesOf(`${seed} ${name} ${count}`, Math.floor(20_000 * random())))
      const told = await answered(throughSession.send(site, file))
      if (told === null) {
        round.sent.push({ door: throughSession, file })
        return
      }
      const { id } = told.json
      const place = throughSession.place(file, told)
      const doubtful = { id, place, bytes: file.bytes }
      if ((await answered(removeArtifact(site, keeper, id))) === null) {
        round.doubtful.push(doubtful)
        return
      }
      site.deleted.set(place, file.bytes)
      round.acknowledged.deletions += 1
      if (random() < 0.5) continue
      site.deleted.delete(place)
      if ((await answered(restoreArtifact(site, keeper, id))) === null) {
        round.doubtful.push(doubtful)
        return
      }
      site.acknowledged.set(place, file.bytes)
      round.acknowledged.restorations += 1
    }
  }

  const clients = (number: number, name: string, work: (name: string, round: Round) => Promise<void>, round: Round) =>
    Array.from({ length: number }, (_, index) => work(`${name}${index}`, round))

  /** A path holds what was there before, or all of what was sent. */
  const assertNothingHalf = async ({ door, file }: Sent): Promise<void> => {
    if (door === throughSession) return
    const place = rawPlace(file)
    const found = await fetchBytes(site, place)
    const before = site.acknowledged.get(place)
    const whole = found?.equals(file.bytes) === true
    assert.ok(whole || (before === undefined ? found === null : found?.equals(before)), `${place} is half`)
    if (whole) site.acknowledged.set(place, file.bytes)
  }

  /** Every part that was acknowledged is listed, unless all of it is published already. */
  const assertPartsAreThere = async ({ file, upload, parts }: Begun): Promise<void> => {
    const session = await openSession(site, file)
    assert.ok(session.status < 300, session.text)
    if (upload === null) return
    assert.equal(uploadPlace(session), upload)
    if (session.json.status === 'available') return
    assert.equal(session.json.status, 'pending')
    const stored = await storedParts(site, upload)
    for (const [index, part] of partsOf(file).entries()) {
      if (parts.has(index)) assert.ok(stored.has(index), `part ${index} of ${file.path} was acknowledged and is lost`)
      if (stored.has(index)) assert.equal(stored.get(index), sha256Of(part))
    }
  }

  /** It is there as it was, or away. Deletes it for good, so that the answer is known. */
  const settle = async ({ id, place, bytes }: Doubtful): Promise<void> => {
    const found = await fetchBytes(site, place)
    assert.ok(found === null || found.equals(bytes), `${place} is half deleted`)
    const told = await removeArtifact(site, keeper, id)
    assert.equal(told.json.outcome, found === null ? 'already_deleted' : 'deleted', told.text)
    site.deleted.set(place, bytes)
  }

  const store = async (door: Door, file: File): Promise<void> => {
    const told = await door.send(site, file)
    assert.ok(told.status === 200 || told.status === 201, `${door.name}: ${told.status} ${told.text}`)
    site.acknowledged.set(door.place(file, told), file.bytes)
  }

  describe('killed at random moments under load', () => {
    for (let number = 1; number <= rounds; number++) {
      it(`keeps what was acknowledged and nothing half (round ${number}, seed ${seed})`, async () => {
        await site.live()
        const round = new Round()
        const working = [
          ...clients(uploaders, `r${number}-u`, upload, round),
          ...clients(partSenders, `r${number}-p`, uploadInParts, round),
          ...clients(deleters, `r${number}-d`, removeSome, round),
        ]
        await until('some of each kind was acknowledged', () => Object.values(round.acknowledged).every((n) => n > 0))
        await pause(900 * randomOf(`${seed} moment ${number}`)())
        site.kill()
        await Promise.all(working)
        await site.died()
        assert.equal(round.sent.length + round.begun.length + round.doubtful.length, working.length)

        await site.live()
        for (const begun of round.begun) await assertPartsAreThere(begun)
        await site.inOrder()
        for (const sent of round.sent) await assertNothingHalf(sent)
        for (const doubtful of round.doubtful) await settle(doubtful)
        await site.keepsWhatItAcknowledged()
        for (const { door, file } of round.sent) await store(door, file)
        for (const { file } of round.begun) await store(inParts, file)
        await site.keepsWhatItAcknowledged()
        await site.holdsOnlyWhatIsPublished({ bytes: 0, digests: [] })
        await site.inOrder()
      })
    }

    it('and what was deleted can be brought back as it was', async () => {
      await site.live()
      for (const [place, bytes] of site.deleted) {
        const id = place.split('/').at(-2) ?? assert.fail(place)
        const told = await restoreArtifact(site, keeper, id)
        assert.equal(told.status, 200, told.text)
        site.acknowledged.set(place, bytes)
        site.deleted.delete(place)
      }
      await site.keepsWhatItAcknowledged()
      await site.holdsOnlyWhatIsPublished({ bytes: 0, digests: [] })
    })
  })
})

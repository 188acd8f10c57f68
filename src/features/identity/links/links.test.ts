import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import fc from 'fast-check'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import { type ManualClock, stillClock } from '../../../../test/harness/service.ts'
import type { Database } from '../../../database/database.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import { shareOfActor } from '../../../kernel/download-class.ts'
import { Failure, type FailureCode } from '../../../kernel/failure.ts'
import { endedLinkKeysKeptMs, linkKeySignsMs, linkTtlSecondsMax } from '../../../kernel/limits/identity.ts'
import { settleLinkKeys } from './jobs.ts'
import { callerOfLink, type LinkTarget, signLink } from './links.ts'
import { createSigner, type Signer } from './signer.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

forEachEngine((engine) => {
  let database: Database
  const share = shareOfActor('account:maker')
  let clock: ManualClock
  let signer: Signer
  let target: LinkTarget
  beforeEach(async () => {
    const url = await engine.readyDatabaseUrl()
    database = engine.use(await openDatabase({ url, report: () => {} }))
    await migrate(database, migrations)
    clock = stillClock()
    signer = createSigner({ database, clock })
    target = { repository: 'releases', artifactId: randomUUID() }
  })

  const open = (token: string, to = target) => callerOfLink(database.reader, token, to, clock.now())
  const refused = async (token: string, code: FailureCode, to = target, what = token): Promise<void> => {
    await assert.rejects(open(token, to), (error) => error instanceof Failure && error.code === code, what)
  }
  const keys = () => database.reader.selectFrom('link_keys').selectAll().orderBy('id').execute()

  describe('a download link', () => {
    it('opens what it was made for until its very end, and says then that it expired', async () => {
      const token = await signLink(signer, target, 60, share)
      assert.match(token, /^dtl_[A-Za-z0-9_-]{140}$/)
      const caller = await open(token)
      assert.deepEqual(caller, {
        kind: 'link',
        credential: 'download-link',
        id: caller.id,
        administrator: false,
        repository: 'releases',
        share,
      })
      clock.advance(59_999)
      assert.deepEqual(await open(token), caller)
      clock.advance(1)
      await refused(token, 'token_expired')
    })

    it('is another one each time, also of the same file at the same moment', async () => {
      const [one, two] = [await signLink(signer, target, 60, share), await signLink(signer, target, 60, share)]
      assert.notEqual(one, two)
      assert.notEqual((await open(one)).id, (await open(two)).id)
    })

    it('opens nothing else: no other artifact, no other repository, however their names run together', async () => {
      const token = await signLink(signer, { repository: 'ab', artifactId: 'cd' }, 60, share)
      for (const [repository, artifactId] of [
        ['ab', 'ce'],
        ['ac', 'cd'],
        ['abc', 'd'],
        ['a', 'bcd'],
        ['', 'ab\0cd'],
        ['ab\0cd', ''],
      ] as const)
        await refused(token, 'credential_invalid', { repository, artifactId })
    })

    it('is refused with any of its characters changed to any other', async () => {
      const token = await signLink(signer, target, 60, share)
      for (let at = 0; at < token.length; at++)
        for (const other of `${alphabet}+/=. `) {
          if (other === token[at]) continue
          await refused(token.slice(0, at) + other + token.slice(at + 1), 'credential_invalid')
        }
    })

    it('is refused when pieces of it are cut, doubled, swapped or taken from another link', async () => {
      const [token, other] = [await signLink(signer, target, 60, share), await signLink(signer, target, 86_400, share)]
      const index = fc.nat({ max: token.length })
      await fc.assert(
        fc.asyncProperty(index, index, fc.constantFrom('cut', 'double', 'swap', 'graft'), async (a, b, how) => {
          const [from, to] = a < b ? [a, b] : [b, a]
          const [before, piece, rest] = [token.slice(0, from), token.slice(from, to), token.slice(to)]
          const made = {
            cut: before + rest,
            double: before + piece + piece + rest,
            swap: rest + piece + before,
            graft: before + other.slice(from, to) + rest,
          }[how]
          if (made !== token && made !== other) await refused(made, 'credential_invalid')
        }),
        { numRuns: 300 },
      )
    })

    it('does not tell that it expired to whoever changed it', async () => {
      const token = await signLink(signer, target, 60, share)
      clock.advance(60_000)
      await refused(token, 'token_expired')
      await refused(token, 'credential_invalid', { ...target, repository: 'other' })
      for (let at = 4; at < token.length; at++) {
        const other = token[at] === 'A' ? 'B' : 'A'
        await refused(token.slice(0, at) + other + token.slice(at + 1), 'credential_invalid')
      }
    })
  })

  describe('the keys of links', () => {
    it('are made when the first link is, once, however many ask at the same time', async () => {
      assert.equal((await keys()).length, 0)
      const tokens = await Promise.all(Array.from({ length: 20 }, () => signLink(signer, target, 60, share)))
      assert.equal((await keys()).length, 1)
      for (const token of tokens) await open(token)
    })

    it('are each process’s own, and every process checks the links of all', async () => {
      const others = [1, 2, 3].map(() => createSigner({ database, clock }))
      const tokens = await Promise.all([signer, ...others].map((each) => signLink(each, target, 60, share)))
      assert.equal((await keys()).length, 4)
      for (const token of tokens) await open(token)
    })

    it('turn over by the clock without breaking a link that lives', async () => {
      const early = await signLink(signer, target, linkTtlSecondsMax, share)
      clock.advance(linkKeySignsMs - 1)
      const late = await signLink(signer, target, linkTtlSecondsMax, share)
      assert.equal((await keys()).length, 1)
      clock.advance(1)
      const next = await Promise.all([1, 2, 3].map(() => signLink(signer, target, linkTtlSecondsMax, share)))
      assert.equal((await keys()).length, 2)
      await refused(early, 'token_expired')
      clock.advance(linkTtlSecondsMax * 1000 - 2)
      await open(late)
      for (const token of next) await open(token)
      clock.advance(1)
      await refused(late, 'token_expired')
      for (const token of next) await open(token)
    })

    it('open nothing more after the end of their last link, whatever they signed', async () => {
      await signLink(signer, target, 60, share)
      const forged = await signLink(signer, target, 400 * 86_400, share)
      clock.advance(linkKeySignsMs + linkTtlSecondsMax * 1000 - 1)
      await open(forged)
      clock.advance(1)
      await refused(forged, 'token_expired')
    })

    it('are forgotten some time after that, and no sooner', async () => {
      const token = await signLink(signer, target, 60, share)
      clock.advance(linkKeySignsMs + linkTtlSecondsMax * 1000 + endedLinkKeysKeptMs)
      await settleLinkKeys({ database, clock })
      await refused(token, 'token_expired')
      clock.advance(1)
      await settleLinkKeys({ database, clock })
      assert.deepEqual(await keys(), [])
      await refused(token, 'credential_invalid')
    })

    it('are made anew when the database has lost them, or the clock went back', async () => {
      const lost = await signLink(signer, target, 60, share)
      await database.transaction(async (tx) => {
        await tx.deleteFrom('link_keys').execute()
      })
      await refused(lost, 'credential_invalid')
      await open(await signLink(signer, target, 60, share))
      clock.advance(-90 * 86_400_000)
      await open(await signLink(signer, target, 60, share))
    })

    it('are made at the next try when the database did not answer', async () => {
      let fails = true
      const flaky: Database = {
        ...database,
        engine: database.engine,
        get reader() {
          return database.reader
        },
        transaction: (work, options) =>
          fails ? Promise.reject(new Error('away')) : database.transaction(work, options),
      }
      const careful = createSigner({ database: flaky, clock })
      await assert.rejects(signLink(careful, target, 60, share), { message: 'away' })
      fails = false
      await open(await signLink(careful, target, 60, share))
    })

    it('have no private half in the database', async () => {
      await signLink(signer, target, 60, share)
      const [row] = await keys()
      assert.deepEqual(Object.keys(row ?? {}).sort(), ['created_at', 'ends_at', 'id', 'public_key'])
      assert.equal(Buffer.from(row?.public_key ?? '', 'base64url').byteLength, 32)
    })
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount, revocation } from '../harness/service-keys.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

/** Somebody who may follow a repository, and how that is taken from them. */
interface Follower {
  readonly credential: string
  takeAway(): Promise<void>
  readonly status: 401 | 403 | 404
}

forEachEngine((engine) => {
  describe('who waits for changes', () => {
    let service: TestService
    let beside: TestService
    let writer: Person
    let repository = ''
    let base = ''

    before(async () => {
      service = await startService(engine, { roles: { gateway: 'api', worker: false } })
      beside = await startService(engine, { on: service, roles: { gateway: 'reader', worker: false } })
      await createOwner(service)
      writer = await createPerson(service, 'writer')
    })
    after(async () => {
      await beside.stop()
      await service.stop()
    })
    afterEach(() => waits(0))

    const waiting = async (at: TestService): Promise<number> => {
      const { text } = await at.ask({ path: '/health/metrics', credential: service.healthKey })
      return Number(/^svc_changes_waiting (\d+)$/m.exec(text)?.[1])
    }
    const waits = (count: number): Promise<unknown> =>
      until(`${count} requests wait`, async () => (await waiting(service)) + (await waiting(beside)) === count)
    const follow = (credential: string, query: string, at = service): Promise<Told> =>
      at.ask({ path: `${base}/changes?${query}`, credential })
    const freshRepository = async (): Promise<void> => {
      repository = `feed-${randomUUID()}`
      base = `/api/v1/repositories/${repository}`
      await createRepository(service, repository)
      await grant(service, writer, repository, 'write')
    }
    const asRecovery = async (method: string, path: string, status: number, json?: unknown): Promise<Told['json']> => {
      const request = { method, path, credential: service.recoveryKey, ...(json === undefined ? {} : { json }) }
      const told = await expectAnswer(service, request, status)
      return status === 204 ? null : told.json
    }

    const person = async (): Promise<Person & { group: string }> => {
      const someone = await createPerson(service, `reader-${randomUUID().slice(0, 8)}`)
      return { ...someone, group: `/api/v1/access-groups/${await grant(service, someone, repository, 'read')}` }
    }
    const robot = async () => {
      const bindings = [binding(repository, 'repository.read', 'artifact.list')]
      const account = await createServiceAccount(service, bindings)
      return { account, key: await activeKey(service, account.id, { bindings }) }
    }
    const followers: Readonly<Record<string, () => Promise<Follower>>> = {
      'a session that is ended': async () => {
        const { token } = await person()
        const logout = { method: 'POST', path: '/api/v1/auth/logout', credential: token }
        const takeAway = async () => void (await expectAnswer(service, logout, 204))
        return { credential: token, takeAway, status: 401 }
      },
      'a personal token that is revoked': async () => {
        const { token: credential } = await person()
        const request = { path: '/api/v1/auth/tokens', credential, json: { name: 'script', scope: 'read' } }
        const { id, token } = (await expectAnswer(service, request, 201)).json
        const revoke = { method: 'DELETE', path: `/api/v1/auth/tokens/${id}`, credential }
        return { credential: token, takeAway: async () => void (await expectAnswer(service, revoke, 204)), status: 401 }
      },
      'an account that is disabled': async () => {
        const { id, token } = await person()
        const takeAway = () => asRecovery('PATCH', `/api/v1/users/${id}`, 200, { enabled: false })
        return { credential: token, takeAway, status: 401 }
      },
      'a person whose group loses the repository': async () => {
        const { group, token } = await person()
        const takeAway = () => asRecovery('DELETE', `${group}/grants/${repository}`, 204)
        return { credential: token, takeAway, status: 404 }
      },
      'a person who leaves the group': async () => {
        const { id, group, token } = await person()
        return { credential: token, takeAway: () => asRecovery('DELETE', `${group}/members/${id}`, 204), status: 404 }
      },
      'a service key that is revoked': async () => {
        const { key } = await robot()
        const takeAway = async () => {
          await expectAnswer(service, revocation(key.id, service.recoveryKey), 200)
        }
        return { credential: key.secret, takeAway, status: 401 }
      },
      'a service account that is disabled': async () => {
        const { account, key } = await robot()
        const takeAway = () =>
          asRecovery('PATCH', `/api/v1/service-accounts/${account.id}`, 200, {
            expectedRevision: account.revision,
            enabled: false,
          })
        return { credential: key.secret, takeAway, status: 401 }
      },
      'a service account that loses the repository': async () => {
        const { account, key } = await robot()
        const json = { expectedRevision: account.revision, bindings: [] }
        const takeAway = () => asRecovery('PUT', `/api/v1/service-accounts/${account.id}/policy`, 200, json)
        return { credential: key.secret, takeAway, status: 404 }
      },
      'a service account that may no longer list': async () => {
        const { account, key } = await robot()
        const json = { expectedRevision: account.revision, bindings: [binding(repository, 'repository.read')] }
        const takeAway = () => asRecovery('PUT', `/api/v1/service-accounts/${account.id}/policy`, 200, json)
        return { credential: key.secret, takeAway, status: 403 }
      },
    }

    /** What somebody is told after the wait is what they would be told if they asked only now. */
    const toldLikeAnew = async (told: Told, { credential, status }: Follower): Promise<void> => {
      const anew = await follow(credential, 'after=0')
      assert.deepEqual(
        [told.status, told.json.code, told.json.detail],
        [status, anew.json.code, anew.json.detail],
        told.text,
      )
      assert.doesNotMatch(told.text, /head|items/)
    }

    for (const [what, make] of Object.entries(followers))
      it(`is told of no change by way of ${what} meanwhile`, async () => {
        await freshRepository()
        const follower = await make()
        const asked = [follow(follower.credential, 'after=0&wait=30'), follow(follower.credential, 'wait=30', beside)]
        const stays = follow(writer.token, 'after=0&wait=30')
        await waits(3)
        await follower.takeAway()
        await publish(service, writer.token, repository, newFile('secret', 'secret'))
        for (const told of asked) await toldLikeAnew(await told, follower)
        assert.equal((await stays).json.items.length, 1)
      })

    it('is not told how far the journal is either: when the time is up, the cursor is lost or the service stops', async () => {
      await freshRepository()
      const { group, token } = await person()
      const follower = { credential: token, status: 404, takeAway: async () => {} } as const
      const third = await startService(engine, { on: service, roles: { gateway: 'api', worker: false } })
      const patient = follow(token, 'after=0&wait=2', beside)
      const lost = follow(token, 'after=0&wait=30')
      const stopped = follow(token, 'after=0&wait=30', third)
      await waits(2)
      await until('one waits there', async () => (await waiting(third)) === 1)
      await asRecovery('DELETE', `${group}/grants/${repository}`, 204)
      await third.stop()
      // As if lines had been written and forgotten again.
      await inDatabase(service, (q) =>
        q.updateTable('repositories').set({ journal_head: 3 }).where('id', '=', repository).execute(),
      )
      for (const told of await Promise.all([patient, lost, stopped])) await toldLikeAnew(told, follower)
    })
  })
})

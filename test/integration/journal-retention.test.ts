import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { day } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createOwner, signIn } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

const base = '/api/v1/repositories/releases'

after(closeConnections)

forEachEngine((engine) => {
  it('old lines of journals and of the security audit are forgotten, and readers are told what that means for them', async () => {
    const service = await startService(engine, {
      settings: { SVC_JOURNAL_RETENTION_DAYS: '2', SVC_SECURITY_AUDIT_RETENTION_DAYS: '3' },
    })
    try {
      const owner = await createOwner(service)
      let token = owner.token
      const get = (path: string, status = 200, code?: string): Promise<Told> =>
        expectAnswer(service, { path, credential: token }, status, code)
      const put = async (name: string): Promise<void> => {
        await expectAnswer(service, { method: 'PUT', path: `${base}/raw/${name}`, credential: token, body: name }, 201)
      }
      const sequences = async (path: string): Promise<string[]> =>
        (await get(path)).json.items.map(({ sequence }: { sequence: string }) => sequence)
      /** The worker looks when it starts. */
      const pass = async (ms: number): Promise<void> => {
        service.clock.advance(ms)
        await service.restart()
        token = await signIn(service, owner.name)
      }
      await put('old')
      const earliest = (await sequences('/api/v1/security-audit')).at(0)
      await pass(1.5 * day)
      await put('young')
      assert.deepEqual(await sequences(`${base}/audit`), ['1', '2', '3', '4'])
      await pass(day)
      await until('the first two lines are forgotten', async () => (await sequences(`${base}/audit`)).length === 2)
      assert.deepEqual(await sequences(`${base}/audit?after=1`), ['3', '4'])
      assert.deepEqual(await sequences(`${base}/changes`), ['3', '4'])
      assert.deepEqual(await sequences(`${base}/changes?after=2`), ['3', '4'])
      await get(`${base}/changes?after=1`, 409, 'cursor_lost')
      assert.ok((await sequences('/api/v1/security-audit')).includes(String(earliest)))
      await pass(day)
      await until('the security audit is shorter', async () =>
        (await sequences('/api/v1/security-audit')).every((sequence) => sequence !== earliest),
      )
      const lines = await inDatabase(service, (q) => q.selectFrom('journal').selectAll().execute())
      assert.ok(lines.length <= 2)
      // What the files are is no matter of journals.
      for (const name of ['old', 'young'])
        assert.equal((await get(`${base}/asset/history?path=${name}`)).json.items.length, 1)
    } finally {
      await service.stop()
    }
  })
})

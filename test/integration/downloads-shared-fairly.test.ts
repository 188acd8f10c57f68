import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import { after, before, describe, it } from 'node:test'
import type { DownloadClass } from '../../src/kernel/download-class.ts'
import { downloadClassShares } from '../../src/kernel/limits/downloads.ts'
import { ask, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createPerson, grant, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'
const file = randomBytes(256 * 1024)
const classes = ['interactive', 'release', 'bulk', 'background'] as const
const callersPerClass = 4
const clientsPerCaller = 12
const patientClients = 8
const enough = 2_000

interface Caller {
  readonly person: Person
  readonly downloadClass: DownloadClass
  served: number
}

forEachEngine((engine) => {
  describe('two hundred clients of all classes at once', () => {
    let service: TestService
    const callers: Caller[] = []
    let patient: Person

    before(async () => {
      service = await startService(engine, {
        onDisk: true,
        settings: { SVC_DOWNLOAD_SLOTS: '8', SVC_DOWNLOAD_WAIT_SECONDS: '600' },
      })
      const put = await service.ask({ method: 'PUT', path: `${raw}/file`, credential: service.recoveryKey, body: file })
      assert.equal(put.status, 201)
      const reader = async (name: string): Promise<Person> => {
        const person = await createPerson(service, name)
        await grant(service, person, 'releases', 'read')
        return person
      }
      for (const downloadClass of classes)
        for (let count = 0; count < callersPerClass; count += 1)
          callers.push({ person: await reader(`${downloadClass}-${count}`), downloadClass, served: 0 })
      patient = await reader('patient')
    })
    after(() => service.stop())

    it('get their shares, by class and by caller, and every byte; who asks again and again is served, too', async (t) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 256 })
      let over = false
      let all = 0
      let patientlyServed = 0
      const fetchFile = (credential: string, headers: Record<string, string>) =>
        ask(service.url, { path: `${raw}/file`, credential, headers }, agent)

      /** Fetches the file again and again. */
      const eager = async (caller: Caller): Promise<void> => {
        while (!over) {
          const told = await fetchFile(caller.person.token, { 'svc-download-class': caller.downloadClass })
          assert.equal(told.status, 200)
          assert.ok(told.bytes.equals(file))
          if (over) return
          caller.served += 1
          all += 1
          if (all === enough) over = true
        }
      }
      /** Has an id for each download, and comes back when it is told to. */
      const asking = async (client: number): Promise<void> => {
        for (let number = 0; !over; number += 1) {
          const id = { 'svc-download-id': `patient-${client}-${number}`.padEnd(16, '_') }
          let ticket: Record<string, string> = {}
          await until('a patient client is served', async () => {
            const told = await fetchFile(patient.token, { ...id, ...ticket })
            if (told.status === 200) {
              assert.ok(told.bytes.equals(file))
              patientlyServed += 1
              return true
            }
            assert.deepEqual([told.status, told.json.code], [503, 'download_queued'])
            ticket = { 'svc-queue-ticket': String(told.headers['svc-queue-ticket']) }
            await until(
              'it is time to ask again',
              (
                (at) => () =>
                  performance.now() >= at
              )(performance.now() + 250),
            )
            return over
          })
        }
      }
      const clients = callers.flatMap((caller) => Array.from({ length: clientsPerCaller }, () => eager(caller)))
      const patients = Array.from({ length: patientClients }, (_, client) => asking(client))
      assert.equal(clients.length + patients.length, 200)
      await Promise.all([...clients, ...patients])
      agent.destroy()

      const servedIn = (name: DownloadClass): number[] =>
        callers.filter(({ downloadClass }) => downloadClass === name).map(({ served }) => served)
      const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0)
      // Time is shared and not files, and on a busy machine a file takes now this long and now that: no exact numbers.
      for (const name of classes) {
        const counts = servedIn(name)
        const jain = sum(counts) ** 2 / (counts.length * sum(counts.map((count) => count ** 2)))
        t.diagnostic(`${name}: ${counts.join(', ')} files, Jain index ${jain.toFixed(3)}`)
        assert.ok(jain > 0.85, `callers of ${name} got ${counts}, unevenly`)
      }
      // The patient ones are people as well, and take from the part of the first class only.
      for (const [higher, lower] of [
        ['release', 'bulk'],
        ['bulk', 'background'],
      ] as const) {
        const ratio = sum(servedIn(higher)) / sum(servedIn(lower))
        assert.equal(downloadClassShares[higher] / downloadClassShares[lower], 2)
        assert.ok(ratio > 1.3 && ratio < 3.1, `${higher} to ${lower} is ${ratio} where 2 is fair`)
      }
      assert.ok(sum(servedIn('interactive')) > sum(servedIn('release')), 'people come first')
      assert.ok(patientlyServed > 0)
      await until('no slot is left taken', async () => {
        const ready = await service.ask({ path: '/health/ready', credential: service.healthKey })
        const { held, waiting } = ready.json.transfers.downloads.admission
        return held === 0 && waiting === 0
      })
    })
  })
})

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page, Route } from 'playwright-core'
import { MiB } from '../../src/kernel/units.ts'
import { openBrowser, signInAt, tokenIn, visitAs } from '../harness/browser.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { freePorts } from '../harness/front-proxies.ts'
import { handsOn } from '../harness/hands.ts'
import { createOwner, createPerson, password } from '../harness/people.ts'
import { PolicyPlace } from '../harness/policies.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { startService, type TestService } from '../harness/service.ts'
import { startServiceApart } from '../harness/service-apart.ts'
import { until } from '../harness/until.ts'

after(closeConnections)
endProgramsAfterTests()

/** The service asks for parts of this size. */
const partBytes = 8 * MiB

let browser: Browser
let folder: string
before(async () => {
  browser = await openBrowser()
  folder = await mkdtemp(join(tmpdir(), 'svc-console-uploads-'))
})
after(async () => {
  await browser.close()
  await rm(folder, { recursive: true, force: true })
})

/** Bytes that are not the same twice, so that parts cannot be taken for one another. */
const bytesOf = (seed: number, size: number): Buffer => {
  const bytes = Buffer.alloc(size)
  for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE(Math.imul(at + seed, 2_654_435_761) >>> 0, at)
  return bytes
}

const part = /\/uploads\/[^/]+\/parts\/\d+$/

/** Holds the part with this number back until it is let go; tells how often each part was sent. */
const holding = async (page: Page, held: number) => {
  const sent = new Map<number, number>()
  const waiting: Route[] = []
  let isHolding = true
  await page.route(part, async (route) => {
    const index = Number(route.request().url().split('/').at(-1))
    if (isHolding && index === held) {
      waiting.push(route)
      return
    }
    sent.set(index, (sent.get(index) ?? 0) + 1)
    await route.continue()
  })
  return {
    reached: page.waitForRequest((asked) => part.test(asked.url()) && asked.url().endsWith(`/${held}`), {
      timeout: 60_000,
    }),
    sent,
    /** What is held goes on; with `dropped` it never arrives, as when its page is gone. */
    async letGo({ dropped = false } = {}): Promise<void> {
      isHolding = false
      for (const route of waiting) await (dropped ? route.abort() : route.continue())
    },
  }
}

/** In the page: how many uploads its store knows of. */
const countOfRecords = `new Promise((resolve, reject) => {
  const opened = indexedDB.open('svc-uploads:/console/')
  opened.onerror = () => reject(opened.error)
  opened.onsuccess = () => {
    const counted = opened.result.transaction('records').objectStore('records').count()
    counted.onsuccess = () => resolve(counted.result)
  }
})`

forEachEngine((engine) => {
  const hands = handsOn(engine)
  const openTransfers = (page: Page): Promise<void> =>
    hands.press(page.getByRole('link', { name: /Transfers/ }).first())
  /** Gives files, or where it is one text a folder, to be stored below a path. */
  const give = async (page: Page, address: string, base: string, files: string | readonly string[]): Promise<void> => {
    if (!page.url().includes(`/files/${base}`)) await page.goto(`${address}/console/r/releases/files/${base}`)
    const name = typeof files === 'string' ? 'Choose a folder' : 'Choose files'
    await hands.give(page.getByRole('button', { name }), typeof files === 'string' ? files : [...files])
    await hands.press(page.getByRole('button', { name: /^Send / }))
  }

  describe(`an upload in a browser, by ${hands.by}`, () => {
    let service: TestService
    let here: string
    before(async () => {
      service = await startService(engine)
      await createOwner(service)
      here = join(folder, engine.name.replaceAll(/\W/g, ''))
      await mkdir(here)
    })
    after(() => service.stop())

    const signedIn = async () => {
      const opened = await visitAs(browser, service)
      opened.page.on('dialog', (dialog) => void dialog.accept())
      return opened
    }
    const stored = async (path: string): Promise<Buffer> =>
      (await service.ask({ path: `/api/v1/repositories/releases/raw/${path}`, credential: service.recoveryKey })).bytes

    const count = engine.name === 'sqlite' ? 1000 : 300
    it(`of ${count} files goes on after a reload with what is missing`, async () => {
      const said = new Intl.NumberFormat('en').format(count)
      const build = join(here, 'build')
      await mkdir(build)
      const large = bytesOf(1, 2 * partBytes + 100)
      await writeFile(join(build, 'large.bin'), large)
      for (let number = 1; number < count; number += 1)
        await writeFile(join(build, `small-${number}`), `small ${number}`)
      const { context, page, faults } = await signedIn()
      const parts = await holding(page, 1)
      await give(page, service.url, '', build)
      await openTransfers(page)
      // Some have arrived, and of the large one a part.
      await Promise.all([parts.reached, page.getByText(/^[1-9]\d\d of /).waitFor()])
      await page.reload()
      await parts.letGo({ dropped: true })
      await page.getByText('drop the same ones').waitFor()
      await give(page, service.url, '', build)
      await openTransfers(page)
      // Those that had arrived are seen to be there already.
      await page.getByText(`${said} of ${said} files done`).waitFor({ timeout: 120_000 })
      assert.deepEqual([...parts.sent].sort(), [
        [0, 1],
        [1, 1],
        [2, 1],
      ])
      assert.ok((await stored('build/large.bin')).equals(large))
      assert.equal(String(await stored(`build/small-${count - 1}`)), `small ${count - 1}`)
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('goes on when the service was killed under it: by itself, and by a page that was loaded again', async () => {
      const [port] = await freePorts(1)
      const settings = { SVC_LISTEN: `127.0.0.1:${port}` }
      const killed = engine.use(await startServiceApart(engine, { settings }))
      await createOwner(killed)
      const { context, page, faults } = await visitAs(browser, killed)
      page.on('dialog', (dialog) => void dialog.accept())
      const killUnder = async (name: string, seed: number, meanwhile: () => Promise<void>): Promise<void> => {
        const path = join(here, name)
        const large = bytesOf(seed, partBytes + 100)
        await writeFile(path, large)
        const parts = await holding(page, 1)
        await give(page, killed.url, 'docs/', [path])
        await parts.reached
        await killed.kill()
        await parts.letGo()
        await killed.start()
        await meanwhile()
        await openTransfers(page)
        await page.getByText('1 of 1 file done').waitFor()
        assert.equal(parts.sent.get(0), 1)
        const asked = { path: `/api/v1/repositories/releases/raw/docs/${name}`, credential: killed.recoveryKey }
        assert.ok((await killed.ask(asked)).bytes.equals(large))
      }
      await killUnder('by-itself.bin', 2, async () => {})
      await hands.press(page.getByRole('button', { name: 'Clear what is done' }))
      await killUnder('loaded-again.bin', 8, async () => {
        await page.reload()
        await give(page, killed.url, 'docs/', [join(here, 'loaded-again.bin')])
      })
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('waits for its person when the session ends, and goes on with the next', async () => {
      await writeFile(join(here, 'paused.bin'), bytesOf(3, partBytes + 100))
      const { context, page, faults } = await signedIn()
      const parts = await holding(page, 1)
      await give(page, service.url, 'docs/', [join(here, 'paused.bin')])
      await parts.reached
      const token = await tokenIn(page)
      await service.ask({ method: 'POST', path: '/api/v1/auth/logout', credential: token })
      await parts.letGo()
      const again = page.getByRole('dialog', { name: 'Sign in again' })
      await again.getByLabel('Password', { exact: true }).fill(password)
      await hands.press(again.getByRole('button', { name: 'Sign in', exact: true }))
      await again.waitFor({ state: 'hidden' })
      await openTransfers(page)
      await page.getByText('1 of 1 file done').waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('takes nothing from whoever stored something at its path meanwhile', async () => {
      await writeFile(join(here, 'contested.bin'), bytesOf(4, partBytes + 100))
      const { context, page, faults } = await signedIn()
      const parts = await holding(page, 1)
      await give(page, service.url, 'docs/', [join(here, 'contested.bin')])
      await parts.reached
      const raw = { path: '/api/v1/repositories/releases/raw/docs/contested.bin', credential: service.recoveryKey }
      assert.equal((await service.ask({ ...raw, method: 'PUT', body: 'theirs' })).status, 201)
      await parts.letGo()
      await openTransfers(page)
      await hands.press(page.getByRole('button', { name: 'Why' }))
      await page.getByRole('dialog').getByText('Somebody changed it before you').waitFor()
      assert.equal(String(await stored('docs/contested.bin')), 'theirs')
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('that is cancelled leaves nothing open at the service', async () => {
      await writeFile(join(here, 'cancelled.bin'), bytesOf(5, partBytes + 100))
      const { context, page, faults } = await signedIn()
      const parts = await holding(page, 1)
      await give(page, service.url, 'docs/', [join(here, 'cancelled.bin')])
      await parts.reached
      await openTransfers(page)
      await hands.press(page.getByRole('button', { name: 'Cancel', exact: true }).first())
      await page.getByText('The service waits for nothing of yours.').waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('that was left is seen by nobody else, and gone once its person signs out', async () => {
      await createPerson(service, 'neighbour')
      await writeFile(join(here, 'private.bin'), bytesOf(7, partBytes + 100))
      const { context, page, faults } = await signedIn()
      const parts = await holding(page, 1)
      const beside = await context.newPage()
      await beside.goto(`${service.url}/console/me`)
      await beside.getByRole('button', { name: 'Sign out' }).waitFor()
      await give(page, service.url, 'docs/', [join(here, 'private.bin')])
      await parts.reached
      await page.reload()
      await openTransfers(page)
      await page.getByText('docs/private.bin').waitFor()
      // In a tab that knows nothing of it.
      await hands.press(beside.getByRole('button', { name: 'Sign out' }))
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      await signInAt(page, service.url, 'neighbour', password)
      await openTransfers(page)
      await page.getByText('Nothing goes up').waitFor()
      assert.equal(await page.getByText('private.bin').count(), 0)
      await until('no record is left', async () => (await page.evaluate(countOfRecords)) === 0)
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('beyond the quota says how much there is', async () => {
      const place = await PolicyPlace.in(service, 'releases')
      const { revision, policy } = (await place.expect({ path: '/storage/policy' }, 200)).json
      const json = { expectedRevision: revision, policy: { ...policy, quotaBytes: '1' } }
      await place.expect({ method: 'PUT', path: '/storage/policy', json }, 200)
      await writeFile(join(here, 'too-much.bin'), bytesOf(6, 100))
      const { context, page, faults } = await signedIn()
      await give(page, service.url, 'docs/', [join(here, 'too-much.bin')])
      await openTransfers(page)
      await hands.press(page.getByRole('button', { name: 'Why' }))
      await page.getByRole('dialog').getByText('The quota of the repository is used up').waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })
  })
})

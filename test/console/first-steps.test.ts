import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { faultsOfAccess, openBrowser, signInAt, tokenIn, visit, visitAs } from '../harness/browser.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { addKey, handsOn } from '../harness/hands.ts'
import { createOwner, createPerson, password } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

after(closeConnections)

let browser: Browser
let folder: string
before(async () => {
  browser = await openBrowser()
  folder = await mkdtemp(join(tmpdir(), 'svc-console-'))
})
after(async () => {
  await browser.close()
  await rm(folder, { recursive: true, force: true })
})

forEachEngine((engine) => {
  const hands = handsOn(engine)
  describe(`the first minutes at the console, by ${hands.by}`, () => {
    let service: TestService
    before(async () => {
      service = await startService(engine)
    })
    after(() => service.stop())

    it('lead from the recovery key to an owner', async () => {
      const { context, page, faults } = await visit(browser)
      await page.goto(`${service.url}/console/`)
      await page.getByRole('heading', { name: 'The first owner' }).waitFor()
      assert.deepEqual(await faultsOfAccess(page), [])
      await hands.type(page.getByLabel('Recovery key'), service.recoveryKey)
      await hands.type(page.getByLabel('Name'), 'owner')
      await hands.type(page.getByLabel('Password', { exact: true }), password)
      await page.keyboard.press('Enter')
      await page.getByRole('navigation', { name: 'Pages' }).first().waitFor()
      const users = await service.ask({ path: '/api/v1/users', credential: service.recoveryKey })
      assert.deepEqual(
        users.json.items.map((each: { name: string; administrator: boolean }) => [each.name, each.administrator]),
        [['owner', true]],
      )
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('store a folder of files, and show them under their paths', async () => {
      const names = Array.from({ length: 120 }, (_, index) => `part-${String(index).padStart(3, '0')}.txt`)
      const dropped = join(folder, `${engine.name.replaceAll(/\W/g, '')}-build`)
      await mkdir(join(dropped, 'inner'), { recursive: true })
      for (const name of names) await writeFile(join(dropped, 'inner', name), `bytes of ${name}`)
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/r/releases/files/`)
      await hands.give(page.getByRole('button', { name: 'Choose a folder' }), dropped)
      await hands.press(page.getByRole('button', { name: 'Send 120 files' }))
      await hands.press(page.getByRole('link', { name: /Transfers/ }).first())
      await page.getByText('120 of 120 files done').waitFor({ timeout: 120_000 })
      await page.goBack()
      await hands.press(page.getByRole('link', { name: /-build\/$/ }))
      await hands.press(page.getByRole('link', { name: 'inner/' }))
      await hands.press(page.getByRole('link', { name: 'part-000.txt' }))
      await page.getByText('bytes of part-000.txt').waitFor()
      assert.deepEqual(await faultsOfAccess(page), [])
      assert.deepEqual(faults, [])
      await context.close()
    })
  })

  describe(`a session at the console, by ${hands.by}`, () => {
    let service: TestService
    before(async () => {
      service = await startService(engine)
      await createOwner(service)
      await createPerson(service, 'newcomer')
    })
    after(() => service.stop())

    it('is shared with new tabs, survives a reload, and ends in all of them', async () => {
      const { context, page, faults } = await visit(browser)
      await signInAt(page, service.url, 'owner', password)
      await page.reload()
      await page.getByRole('heading', { name: 'Hello, owner' }).waitFor()
      const other = await context.newPage()
      await other.goto(`${service.url}/console/r`)
      await other.getByRole('heading', { name: 'Repositories' }).waitFor()
      await page.goto(`${service.url}/console/me`)
      await hands.press(page.getByRole('button', { name: 'Sign out' }))
      await other.getByRole('button', { name: 'Sign in' }).waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('that is over leaves neither its keys nor its page to whoever signs in beside it', async () => {
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/me`)
      await addKey(hands, page, service.recoveryKey)
      await page.locator('.band.key').waitFor()
      await page.clock.setFixedTime(Date.now() + 400 * 24 * 3_600_000)
      const other = await context.newPage()
      await signInAt(other, service.url, 'newcomer', password)
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      assert.equal(await page.locator('.shell').count(), 0)
      await page.clock.setFixedTime(Date.now())
      await hands.type(page.getByLabel('Name'), 'newcomer')
      await hands.type(page.getByLabel('Password', { exact: true }), password)
      await page.keyboard.press('Enter')
      await page.locator('.shell').waitFor()
      assert.equal(await page.locator('.band.key').count(), 0)
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('takes no key that comes when it has ended', async () => {
      const { context, page, faults } = await visit(browser)
      await signInAt(page, service.url, 'owner', password)
      const other = await context.newPage()
      await other.goto(`${service.url}/console/me`)
      await page.goto(`${service.url}/console/me`)
      await page.getByRole('button', { name: 'Use a key' }).waitFor()
      await page.route('**/auth/permissions', () => {})
      const asked = page.waitForRequest('**/auth/permissions')
      await addKey(hands, page, service.recoveryKey)
      await asked
      await hands.press(other.getByRole('button', { name: 'Sign out' }))
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      const told = page.waitForResponse('**/auth/permissions')
      await page.unroute('**/auth/permissions')
      await (await told).finished()
      await signInAt(other, service.url, 'newcomer', password)
      // The tab beside it hears of that.
      await page.locator('.shell').waitFor()
      assert.equal(await page.locator('.band.key').count(), 0)
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('forgets a key that nobody used for a while, also where the page asks again by itself', async () => {
      const { context, page, faults } = await visit(browser)
      await page.clock.install()
      await signInAt(page, service.url, 'owner', password)
      await page.goto(`${service.url}/console/me`)
      await addKey(hands, page, service.recoveryKey)
      await page.locator('.band.key').waitFor()
      await hands.press(page.getByRole('link', { name: 'System' }).first())
      await page.getByRole('heading', { name: 'System' }).waitFor()
      for (let minutes = 0; minutes < 14; minutes += 2) await page.clock.runFor(120_000)
      assert.equal(await page.locator('.band.key').count(), 1)
      await page.clock.runFor(120_000)
      await page.locator('.band.key').waitFor({ state: 'detached' })
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('whose end the service did not hear of is said to live on, until it does', async () => {
      const { context, page, faults } = await visit(browser)
      await signInAt(page, service.url, 'newcomer', password)
      const token = await tokenIn(page)
      const lives = async () => (await service.ask({ path: '/api/v1/auth/me', credential: token })).status === 200
      await page.goto(`${service.url}/console/me`)
      await page.route('**/auth/logout', (route) => route.abort())
      await hands.press(page.getByRole('button', { name: 'Sign out' }))
      await page.getByText('the session lives on').waitFor()
      assert.ok(await lives())
      await page.unroute('**/auth/logout')
      await page.getByText('The service knows now').waitFor()
      assert.ok(!(await lives()))
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('of somebody without a grant shows nothing, and says who gives one', async () => {
      const { context, page, faults } = await visitAs(browser, service, 'newcomer')
      await page.goto(`${service.url}/console/r`)
      await page.getByText('No repository that you may see').waitFor()
      await page.goto(`${service.url}/console/r/releases/files/`)
      await page.getByRole('heading', { name: 'Not found' }).waitFor()
      assert.deepEqual(await faultsOfAccess(page), [])
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('that ended while somebody typed is begun again over the page', async () => {
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/r`)
      await hands.press(page.getByRole('button', { name: 'New repository' }))
      await hands.type(page.getByRole('dialog').getByLabel('Name'), 'typed-before')
      const token = await tokenIn(page)
      await service.ask({ method: 'POST', path: '/api/v1/auth/logout', credential: token })
      await hands.press(page.getByRole('dialog').getByRole('button', { name: 'New repository' }))
      const again = page.getByRole('dialog', { name: 'Sign in again' })
      await hands.type(again.getByLabel('Password', { exact: true }), password)
      await hands.press(again.getByRole('button', { name: 'Sign in', exact: true }))
      await again.waitFor({ state: 'hidden' })
      assert.equal(await page.getByRole('dialog').getByLabel('Name').inputValue(), 'typed-before')
      assert.deepEqual(faults, [])
      await context.close()
    })
  })
})

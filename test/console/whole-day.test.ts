import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { freshVault, removeVault } from '../harness/backups.ts'
import { openBrowser, sessionKeyBelow, signInAt, visit, visitAs } from '../harness/browser.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { addKey, handsOn } from '../harness/hands.ts'
import { createOwner, createPerson, createRepository, grant, type Person, password } from '../harness/people.ts'
import { type PrefixProxy, startPrefixProxy } from '../harness/prefix-proxy.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activation, activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

/** A name that is not this machine's, so that the browser takes the page for one over plain http. */
const host = 'svc.test'
const prefix = '/tools/svc'

let browser: Browser
before(async () => {
  browser = await openBrowser([`--host-resolver-rules=MAP ${host} 127.0.0.1`])
})
after(() => browser.close())

forEachEngine((engine) => {
  const hands = handsOn(engine)
  describe(`a day at the console, behind a proxy, over plain http and by ${hands.by}`, () => {
    let service: TestService
    let owner: Person
    let proxy: PrefixProxy
    let vault: string
    let address: string
    before(async () => {
      proxy = await startPrefixProxy(prefix)
      vault = await freshVault(engine)
      address = `http://${host}:${proxy.port}${prefix}`
      service = await startService(engine, {
        settings: { SVC_BASE_URL: address, SVC_BACKUP_VAULT: vault, SVC_INSTANCE_NAME: 'Staging' },
      })
      proxy.leadTo(service.url)
      owner = await createOwner(service)
      await createRepository(service, 'builds')
      await grant(service, owner, 'builds', 'write')
      for (const path of ['releases/raw/app/one.txt', 'builds/raw/app/same.txt', 'releases/raw/app/other.txt'])
        await service.ask({
          method: 'PUT',
          path: `/api/v1/repositories/${path}`,
          credential: owner.token,
          body: path.includes('other') ? 'something else' : 'the same bytes',
        })
    })
    after(async () => {
      await service.stop()
      await proxy[Symbol.asyncDispose]()
      await removeVault(vault)
    })

    const signedIn = (name = 'owner') => visitAs(browser, service, name, { prefix })
    /** As somebody types who does not look: on from the first key, whatever is open by then. */
    const findByKeys = async (page: Page, text: string): Promise<void> => {
      await page.locator('main h1').focus()
      await page.keyboard.press('/')
      await page.keyboard.type(text)
      assert.equal(await page.getByRole('combobox', { name: 'Find anything' }).inputValue(), text)
    }

    it('says which deployment it is, and that browsers keep something for encrypted pages', async () => {
      const { context, page, faults } = await visit(browser)
      await signInAt(page, address, 'owner', password)
      assert.equal(await page.evaluate('isSecureContext'), false)
      // Another installation at the same host finds none of it.
      const names = Object.keys(JSON.parse(await page.evaluate('JSON.stringify(sessionStorage)')))
      assert.ok(names.includes(sessionKeyBelow(prefix)) && !names.includes('svc.session'))
      await page.getByText('Staging').first().waitFor()
      await page.locator('.band').filter({ hasText: 'http' }).waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('finds every place of a digest that is pasted, by the keyboard alone', async () => {
      const { context, page, faults } = await signedIn()
      await page.goto(`${address}/console/`)
      await findByKeys(page, hash('sha256', 'the same bytes'))
      await page.getByRole('option', { name: 'Find these bytes everywhere' }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(/search/)
      await page.getByRole('link', { name: 'same.txt', exact: true }).waitFor()
      await page.getByRole('link', { name: 'one.txt', exact: true }).waitFor()
      assert.equal(await page.getByRole('link', { name: 'other.txt' }).count(), 0)
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('stores a file where the browser hashes nothing by itself', async () => {
      const { context, page, faults } = await signedIn()
      await page.goto(`${address}/console/r/releases/files/dropped/`)
      await hands.give(page.getByRole('button', { name: 'Choose files' }), {
        name: 'приложение 1.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('dropped over plain http'),
      })
      await hands.press(page.getByRole('button', { name: /^Send / }))
      await hands.press(page.getByRole('link', { name: /Transfers/ }).first())
      await page.getByText('1 of 1 file done').waitFor()
      await page.goBack()
      await hands.press(page.getByRole('link', { name: 'приложение 1.txt' }))
      await page.getByText('dropped over plain http').waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('tells who did what by a filter that the address keeps, also when one comes back, and exports it', async () => {
      const { context, page, faults } = await signedIn()
      await page.goto(`${address}/console/r/releases/activity?what=artifact.publish`)
      await page.getByRole('link', { name: 'other.txt' }).waitFor()
      await hands.type(page.getByLabel('Who', { exact: true }), 'owner')
      await page.keyboard.press('Enter')
      await page.waitForURL(/who=owner/)
      const filtered = page.url()
      assert.equal(await page.getByRole('gridcell', { name: 'path changed' }).count(), 0)
      await hands.press(page.getByRole('link', { name: 'other.txt' }))
      await page.getByRole('heading', { name: 'other.txt' }).waitFor()
      await page.goBack()
      assert.equal(page.url(), filtered)
      await page.getByRole('link', { name: 'other.txt' }).waitFor()
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        hands.press(page.getByRole('button', { name: 'Export' })),
      ])
      const lines = (await readFile(await saved.path(), 'utf8')).trim().split('\n')
      const told = lines.map((line) => JSON.parse(line))
      assert.ok(told.length >= 2)
      assert.ok(told.every(({ action, actorName }) => action === 'artifact.publish' && actorName === 'owner'))
      await hands.type(page.getByLabel('Who', { exact: true }), 'nobody')
      await page.keyboard.press('Enter')
      await page.getByText('Nothing matches').waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('deletes a file by a key that is named, and takes it back; a reload forgets the key', async () => {
      const bindings = [binding('releases', 'artifact.list', 'artifact.read', 'artifact.delete', 'content.read')]
      const robot = await createServiceAccount(service, bindings, 'svc-cleanup')
      const { secret } = await activeKey(service, robot.id, { bindings, name: 'night-run' })
      const gone = await service.ask({
        method: 'PUT',
        path: '/api/v1/repositories/builds/raw/app/other.txt',
        credential: owner.token,
        body: 'to be deleted',
      })
      assert.equal(gone.status, 201)
      const stored = await service.ask({
        method: 'POST',
        path: `/api/v1/repositories/builds/artifacts/${gone.json.artifact.id}/promote`,
        credential: owner.token,
        json: { target: 'releases', mode: 'copy' },
      })
      const { context, page, faults } = await signedIn()
      await page.goto(`${address}/console/r/releases/artifacts/${stored.json.artifactId}`)
      // Refused buttons are there for the keyboard, and lead to the key.
      await page.getByRole('button', { name: 'Delete' }).focus()
      await page.keyboard.press('Enter')
      await hands.type(page.getByRole('dialog').getByLabel('Key', { exact: true }), secret)
      await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Add to this tab' }))
      await page.locator('.band.key').waitFor()
      const remove = async (): Promise<void> => {
        await hands.press(page.getByRole('button', { name: /Delete as / }))
        await hands.press(page.getByRole('dialog').getByRole('button', { name: /^Delete/ }))
      }
      await remove()
      await hands.undo(page)
      await page.getByText('other.txt is back').waitFor()
      await remove()
      // Who leaves before has not asked for it.
      await page.getByRole('button', { name: 'Undo' }).waitFor()
      await page.goto(`${address}/console/r/releases/artifacts?view=deleted`)
      await page.getByRole('gridcell', { name: 'other.txt' }).first().waitFor()
      assert.equal(await page.locator('.band.key').count(), 0)
      await hands.press(page.getByRole('button', { name: 'Bring back' }))
      await page.getByRole('button', { name: 'Bring back' }).waitFor({ state: 'detached' })
      const audit = await service.ask({
        path: `/api/v1/repositories/releases/audit?order=desc&subject=${stored.json.artifactId}&action=artifact.delete`,
        credential: owner.token,
      })
      assert.match(audit.json.items[0].actor, /^(?:key|service-account):/)
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('replaces a key by another without a gap', async () => {
      const bindings = [binding('releases', 'artifact.read')]
      const robot = await createServiceAccount(service, bindings, 'svc-builder')
      const old = await activeKey(service, robot.id, { bindings, name: 'builds' })
      const isTaken = async (secret: string): Promise<boolean> =>
        (await service.ask({ path: '/api/v1/auth/me', credential: secret })).status === 200
      const { context, page, faults } = await signedIn()
      await page.goto(`${address}/console/me`)
      await addKey(hands, page, service.recoveryKey)
      await page.locator('.band.key').waitFor()
      // By links, for a reload would forget the key.
      await hands.press(page.getByRole('link', { name: 'Access' }).first())
      await hands.press(page.getByRole('link', { name: 'Services' }))
      await hands.press(page.getByRole('link', { name: 'svc-builder' }))
      await hands.press(page.getByRole('button', { name: /^Replace/ }))
      await hands.type(page.getByRole('dialog').getByLabel('Name'), 'builds-2')
      await page.keyboard.press('Enter')
      const shown = page.getByRole('dialog', { name: 'The secret of the key' })
      const secret = (await shown.locator('pre').first().textContent()) ?? ''
      assert.ok(await isTaken(old.secret))
      assert.equal((await service.ask(activation(secret))).status, 204)
      await hands.press(shown.getByRole('button', { name: 'I have stored it' }))
      await hands.press(page.getByRole('button', { name: 'Revoke the old one' }))
      const asked = page.getByRole('dialog', { name: 'Revoke' })
      await hands.type(asked.getByLabel(/^Type/), 'builds')
      await page.keyboard.press('Enter')
      await asked.waitFor({ state: 'hidden' })
      assert.deepEqual([await isTaken(old.secret), await isTaken(secret)], [false, true])
      assert.ok(!(await page.content()).includes(secret))
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('answers whether the backups are well, and takes one', async () => {
      const { context, page, faults } = await signedIn()
      await page.goto(`${address}/console/system/backups`)
      await page.getByText('Nothing that could be brought back was verified yet').waitFor()
      await hands.press(page.getByRole('button', { name: 'Back up now' }))
      await page.getByText('The newest point that was verified').waitFor({ timeout: 60_000 })
      // A file of the past is found by its name, and the only point that was verified says so before it goes.
      await hands.press(page.getByRole('grid', { name: 'Points' }).getByRole('link').first())
      await page.getByRole('heading', { name: 'What is in it' }).waitFor()
      await hands.type(page.getByLabel('Name', { exact: true }), 'same.txt')
      await page.keyboard.press('Enter')
      await page.getByRole('gridcell', { name: 'app/same.txt' }).waitFor()
      await page.getByRole('gridcell', { name: 'app/one.txt' }).waitFor({ state: 'detached' })
      await hands.press(page.getByRole('button', { name: 'Delete the point' }))
      const dialog = page.getByRole('dialog')
      await dialog.getByText('It is the only point that was verified').waitFor()
      const [point] = (await service.ask({ path: '/api/v1/backup/points', credential: owner.token })).json.items
      await hands.type(dialog.getByLabel(`Type ${point.snapshotAt} to go on`), point.snapshotAt)
      await hands.press(dialog.getByRole('button', { name: 'Delete the point' }))
      await page.getByText('The agent takes the point out of the vault').waitFor()
      const left = await service.ask({ path: '/api/v1/backup/points', credential: owner.token })
      assert.deepEqual(left.json.items, [])
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('shows where one is signed in, and ends a session elsewhere', async () => {
      const guest = await createPerson(service, 'two-places')
      const { context, page, faults } = await signedIn('two-places')
      await page.goto(`${address}/console/me`)
      await page.getByText('here', { exact: true }).waitFor()
      await hands.press(page.getByRole('button', { name: 'End', exact: true }))
      await page.getByText('That session has ended').waitFor()
      assert.equal((await service.ask({ path: '/api/v1/auth/me', credential: guest.token })).status, 401)
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('shows nothing more of what was taken away meanwhile', async () => {
      const guest = await createPerson(service, 'guest')
      const group = await grant(service, guest, 'builds', 'read')
      const { context, page, faults } = await signedIn('guest')
      await page.goto(`${address}/console/r/builds/files/app/`)
      await page.getByRole('link', { name: 'same.txt' }).waitFor()
      await service.ask({
        method: 'DELETE',
        path: `/api/v1/access-groups/${group}/grants/builds`,
        credential: service.recoveryKey,
      })
      await page.reload()
      await page.getByRole('heading', { name: 'Not found' }).waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('says that it is offline, waits where it is asked to, and tells of what changed without moving rows', async () => {
      const { context, page, faults } = await signedIn()
      let refusals = 0
      await page.route(/\/assets\/page\?/, async (route) => {
        refusals += 1
        const json = { code: 'rate_limited', detail: 'Wait.', retryAfterSeconds: 1 }
        await (refusals === 1 ? route.fulfill({ status: 429, json }) : route.continue())
      })
      const followed = page.waitForRequest(/\/changes\?.*wait=/)
      await page.goto(`${address}/console/r/releases/files/app/`)
      await page.getByRole('link', { name: 'one.txt' }).waitFor()
      assert.ok(refusals > 1)
      await followed
      await service.ask({
        method: 'PUT',
        path: '/api/v1/repositories/releases/raw/app/appeared.txt',
        credential: owner.token,
        body: 'while somebody looked',
      })
      await page.getByText(/changes? since/).waitFor()
      assert.equal(await page.getByRole('link', { name: 'appeared.txt' }).count(), 0)
      await hands.press(page.getByRole('button', { name: 'Show' }))
      await page.getByRole('link', { name: 'appeared.txt' }).waitFor()
      await context.setOffline(true)
      await page.locator('.band.danger').waitFor()
      await context.setOffline(false)
      await page.locator('.band.danger').waitFor({ state: 'detached' })
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('changes what a repository does differently, deletes it by its name, and takes that back', async () => {
      await createRepository(service, 'short-lived')
      const group = await grant(service, owner, 'short-lived', 'write')
      const { context, page, faults } = await signedIn()
      await page.goto(`${address}/console/r/short-lived/settings`)
      const upstream = page.locator('section').filter({ hasText: 'Upstream of npm' })
      await upstream.getByText('only what was published here').waitFor()
      await hands.press(upstream.getByRole('button', { name: 'Set an upstream' }))
      const dialog = page.getByRole('dialog')
      await hands.type(dialog.getByLabel('Registry'), 'https://registry.example.org/')
      await hands.type(dialog.getByLabel('Reserved names'), '@acme/*')
      await page.keyboard.press('Enter')
      await hands.press(dialog.getByRole('button', { name: 'Save' }))
      await upstream.getByText('https://registry.example.org').waitFor()
      await upstream.getByText('@acme/*').waitFor()
      // What no session may do says so; the key does it.
      const keeper = await createServiceAccount(
        service,
        [binding('short-lived', 'artifact.list', 'storage.read', 'storage.manage')],
        'svc-keeper',
      )
      const { secret } = await activeKey(service, keeper.id, { bindings: keeper.bindings, name: 'keeper' })
      await page.getByRole('button', { name: 'Allow no locks' }).focus()
      await page.keyboard.press('Enter')
      await hands.type(dialog.getByLabel('Key', { exact: true }), secret)
      await hands.press(dialog.getByRole('button', { name: 'Add to this tab' }))
      await hands.press(page.getByRole('button', { name: /^Allow no locks as / }))
      await page.getByText('Files cannot be locked').waitFor()
      await hands.press(page.getByRole('button', { name: /^Edit as / }))
      await hands.type(dialog.getByLabel('Tags that stay'), 'v*')
      await page.keyboard.press('Enter')
      // Somebody else is first: what was typed is still there, and says what it replaces.
      const theirs = await service.ask({
        method: 'PUT',
        path: '/api/v1/repositories/short-lived/images/immutable-tags',
        credential: secret,
        json: { expectedRevision: 0, patterns: ['stable'] },
      })
      assert.equal(theirs.status, 200, theirs.text)
      await hands.press(dialog.getByRole('button', { name: 'Save' }))
      await dialog.getByText('Saved now: stable.').waitFor()
      await hands.press(dialog.getByRole('button', { name: 'Save' }))
      await page.locator('.tag').getByText('v*', { exact: true }).waitFor()
      await hands.press(page.getByRole('button', { name: 'Delete the repository' }))
      await dialog.getByText('Groups that lose it: owner-short-lived-write.').waitFor()
      const last = dialog.getByRole('button', { name: 'Delete the repository' })
      await hands.type(dialog.getByLabel('Type short-lived to go on'), 'short')
      assert.ok(await last.isDisabled())
      await hands.type(dialog.getByLabel('Type short-lived to go on'), 'short-lived')
      await hands.press(last)
      await page.getByRole('heading', { name: 'Repositories' }).waitFor()
      const path = '/api/v1/repositories/short-lived'
      assert.equal((await service.ask({ path, credential: owner.token })).status, 404)
      await hands.press(page.getByRole('button', { name: 'Undo' }))
      await page.getByRole('link', { name: 'short-lived', exact: true }).first().waitFor()
      await page.getByText('short-lived is there again').waitFor()
      assert.equal((await service.ask({ path, credential: owner.token })).status, 200)
      const groups = await service.ask({ path: '/api/v1/access-groups', credential: service.recoveryKey })
      const again = groups.json.items.find(({ id }: { id: string }) => id === group)
      assert.deepEqual(again.grants, [{ repository: 'short-lived', access: 'write' }])
      // A repository that holds something is not offered to go.
      await page.goto(`${address}/console/r/releases/settings`)
      await hands.press(page.getByRole('button', { name: 'Delete the repository' }))
      await dialog.getByText('It is not empty').waitFor()
      await hands.type(dialog.getByLabel('Type releases to go on'), 'releases')
      assert.ok(await last.isDisabled())
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('of a reader says that nothing can be changed there', async () => {
      const reader = await startService(engine, { on: service, roles: { gateway: 'reader', worker: false } })
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${reader.url}/console/r/releases/files/app/`)
      await page.getByRole('link', { name: 'one.txt' }).waitFor()
      await page.locator('.band').filter({ hasText: /read/ }).first().waitFor()
      assert.deepEqual(faults, [])
      await context.close()
      await reader.stop()
    })
  })
})

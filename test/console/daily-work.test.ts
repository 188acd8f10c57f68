import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page, Request } from 'playwright-core'
import { MiB } from '../../src/kernel/units.ts'
import { faultsOfAccess, openBrowser, visitAs } from '../harness/browser.ts'
import { type Ask, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { addKey, handsOn } from '../harness/hands.ts'
import { pusher } from '../harness/images.ts'
import { npmPublisher } from '../harness/npm-packages.ts'
import { blocks } from '../harness/pasted-blocks.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { runProgram } from '../harness/processes.ts'
import { newFile, openUpload } from '../harness/publishing.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import { startSlowly } from '../harness/slow-client.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

let browser: Browser
before(async () => {
  browser = await openBrowser()
})
after(() => browser.close())

/** Pages that one goes through; what one thing is in all, is asked on its own page. */
const lists = [
  '/',
  '/r',
  '/r/releases/files/',
  '/r/releases/artifacts',
  '/r/releases/packages',
  '/r/releases/images',
  '/r/releases/npm',
  '/r/releases/lfs',
  '/r/releases/stages',
  '/r/releases/activity',
  '/r/releases/storage',
  '/search?q=app',
  '/transfers',
  '/connect',
  '/access',
  '/access?tab=people',
  '/access?tab=matrix',
  '/access?tab=services',
  '/system',
  '/system?tab=audit',
  '/system/backups',
  '/me',
]

/** What is asked of a picture in its page. */
interface Picture {
  readonly complete: boolean
  readonly naturalWidth: number
}

const isTried = ({ complete }: Picture): boolean => complete
const widthOf = ({ naturalWidth }: Picture): number => naturalWidth

forEachEngine((engine) => {
  const hands = handsOn(engine)
  describe(`daily work at the console, by ${hands.by}`, () => {
    let service: TestService
    let artifact: string
    let owner: Person
    let ann: Person
    before(async () => {
      service = await startService(engine, { settings: { SVC_DOWNLOAD_SLOTS: '1' } })
      owner = await createOwner(service)
      ann = await createPerson(service, 'ann')
      await createRepository(service, 'builds')
      await grant(service, owner, 'builds', 'write')
      const stored = await service.ask({
        method: 'PUT',
        path: '/api/v1/repositories/releases/raw/app/1.0/%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82.html',
        credential: owner.token,
        body: '<script>document.title = "owned"</script><img src=x onerror="document.title=1">',
      })
      artifact = stored.json.artifact.id
    })
    after(() => service.stop())

    it('promotes a file with a comment, which the lifelines of both tell', async () => {
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/r/releases/artifacts/${artifact}?tab=content`)
      await page.getByText('<script>document.title').waitFor()
      await hands.press(page.getByRole('button', { name: 'Promote' }))
      const dialog = page.getByRole('dialog', { name: 'Promote' })
      await hands.take(dialog.getByRole('combobox', { name: 'Into' }), 'builds')
      await hands.type(dialog.getByLabel('Stages there'), 'production')
      await page.keyboard.press('Enter')
      await dialog.getByText('Nothing holds production there now.').waitFor()
      await hands.type(dialog.getByLabel('Comment'), 'release 1.0')
      await hands.press(dialog.getByRole('button', { name: 'Copy' }))
      await page.getByText('Copied here by').waitFor()
      await page.getByText('release 1.0').first().waitFor()
      assert.match(page.url(), /\/r\/builds\/artifacts\//)
      assert.notEqual(await page.title(), 'owned')
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('attaches a file to another, keeps it, and tells what was before', async () => {
      const report = await service.ask({
        method: 'PUT',
        path: '/api/v1/repositories/releases/raw/app/1.0/report.txt',
        credential: owner.token,
        body: 'all green',
      })
      assert.equal(report.status, 201)
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/r/releases/artifacts/${artifact}`)
      await hands.press(page.getByRole('link', { name: 'Attached', exact: true }))
      const attached = page.locator('section').filter({ hasText: 'Attached to it' })
      await hands.press(attached.getByRole('button', { name: 'Edit' }))
      const dialog = page.getByRole('dialog')
      await hands.take(dialog.getByRole('combobox', { name: 'File' }), /report\.txt/, 'report')
      await hands.press(dialog.getByRole('button', { name: 'Attach', exact: true }))
      await hands.type(dialog.getByLabel('What report.txt says'), 'of the nightly run')
      await hands.press(dialog.getByRole('button', { name: 'Save' }))
      await attached.getByRole('link', { name: 'report.txt' }).waitFor()
      await hands.press(attached.getByRole('button', { name: 'Edit' }))
      await hands.press(dialog.getByRole('button', { name: 'Take report.txt off' }))
      await hands.press(dialog.getByRole('button', { name: 'Save' }))
      await page.locator('#main').getByText('Nothing yet: a bill').waitFor()
      await hands.press(attached.getByText('Earlier'))
      await attached.getByText('of the nightly run').waitFor()
      assert.deepEqual(await faultsOfAccess(page), [])
      await hands.press(page.getByRole('link', { name: 'What keeps it' }))
      const kept = page.locator('section').filter({ hasText: 'Kept by' })
      await hands.press(kept.getByRole('button', { name: 'Keep it' }))
      await hands.type(dialog.getByLabel('What keeps it'), 'deploy:production')
      await page.keyboard.press('Enter')
      await kept.getByText('deploy:production').waitFor()
      await hands.press(kept.getByRole('button', { name: 'Give up deploy:production' }))
      await kept.getByText('deploy:production').waitFor({ state: 'detached' })
      await hands.undo(page)
      await kept.getByText('deploy:production').waitFor()
      assert.deepEqual(await faultsOfAccess(page), [])
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('labels, promotes and deletes many files at once, and says of each what became of it', async () => {
      await createRepository(service, 'many')
      await grant(service, owner, 'many', 'write')
      for (const name of ['a', 'b', 'c'])
        await service.ask({
          method: 'PUT',
          path: `/api/v1/repositories/many/raw/${name}.txt`,
          credential: owner.token,
          body: name,
        })
      const bindings = [binding('many', 'artifact.list', 'artifact.read', 'artifact.delete')]
      const robot = await createServiceAccount(service, bindings, 'many-cleanup')
      const { secret } = await activeKey(service, robot.id, { bindings, name: 'many' })
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/r/many/artifacts`)
      await page.getByRole('link', { name: 'c.txt' }).waitFor()
      // By keys alone: the first row is chosen, and with Shift all to the last.
      await page.getByRole('row').nth(1).focus()
      for (const key of ['x', 'j', 'j', 'Shift+X']) await page.keyboard.press(key)
      const bar = page.getByRole('region', { name: 'With what is chosen' })
      await bar.getByText('3 chosen').waitFor()
      await hands.press(bar.getByRole('button', { name: 'Labels' }))
      const dialog = page.getByRole('dialog')
      await hands.type(dialog.getByLabel('Labels to add'), 'nightly')
      await page.keyboard.press('Enter')
      await hands.press(dialog.getByRole('button', { name: 'Save' }))
      await page.getByText('Labels of 3 files were saved').waitFor()
      await page.getByText('nightly').nth(2).waitFor()
      // A path shows one of them, so that only the other goes.
      const copied = await service.ask({
        method: 'POST',
        path: `/api/v1/repositories/releases/artifacts/${artifact}/promote`,
        credential: owner.token,
        json: { target: 'many' },
      })
      assert.equal(copied.status, 201, copied.text)
      await page.reload()
      await hands.choose(page.getByRole('row', { name: /привет\.html/ }))
      await hands.choose(page.getByRole('row', { name: /b\.txt/ }))
      await bar.getByRole('button', { name: 'Delete' }).focus()
      await page.keyboard.press('Enter')
      await hands.type(dialog.getByLabel('Key', { exact: true }), secret)
      await hands.press(dialog.getByRole('button', { name: 'Add to this tab' }))
      await hands.press(bar.getByRole('button', { name: /^Delete as / }))
      await hands.press(dialog.getByRole('button', { name: 'Delete 2 files' }))
      await dialog.getByText('1 of 2 done, 1 refused').waitFor()
      await dialog.getByText('A path shows it or showed it').waitFor()
      assert.deepEqual(await faultsOfAccess(page), [])
      await hands.press(dialog.getByRole('button', { name: 'Cancel' }))
      await page.getByRole('link', { name: 'привет.html' }).waitFor({ state: 'detached' })
      await hands.undo(page)
      await page.getByRole('link', { name: 'привет.html' }).waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('says why somebody may do something, and why not', async () => {
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/access?tab=people`)
      await hands.press(page.getByRole('row', { name: /^ann/ }).getByRole('link', { name: 'Why?' }))
      await hands.take(page.getByRole('combobox', { name: 'Repository' }), 'builds')
      await page.getByText('No group of theirs grants this repository').waitFor()
      await hands.type(page.getByRole('combobox', { name: 'Who' }), 'owner')
      await page.getByText('owner may: download files').waitFor()
      await page.getByText('owner-builds-write').first().waitFor()
      assert.match(page.url(), /who=owner/)
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('ends a path, and takes that back', async () => {
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/r/releases/files/app/1.0/`)
      await hands.press(page.getByRole('link', { name: 'привет.html' }))
      await hands.press(page.getByRole('button', { name: 'End this path' }))
      await hands.press(page.getByRole('dialog').getByRole('button', { name: 'End this path' }))
      await hands.undo(page)
      await page.getByText('It is back').waitFor()
      await page.getByText('Revision 3').first().waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('says in words what a grant means before it is saved', async () => {
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/access`)
      await hands.press(page.getByRole('button', { name: 'New group' }))
      await hands.type(page.getByRole('dialog').getByLabel('Name'), 'readers')
      await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Create' }))
      const card = page.getByRole('listitem').filter({ hasText: 'readers' })
      await hands.press(card.getByRole('button', { name: 'Grant a repository' }))
      const dialog = page.getByRole('dialog')
      await hands.take(dialog.getByRole('combobox', { name: 'Repository' }), 'releases')
      await dialog.getByText('Will read in releases: nobody.').waitFor()
      await hands.press(dialog.getByRole('button', { name: 'Grant a repository' }))
      await card.getByRole('link', { name: 'releases' }).waitFor()
      await page.goto(`${service.url}/console/access?tab=matrix&repository=releases`)
      await page.getByText('group svc-owners').waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    for (const [client, works] of Object.entries(blocks))
      it(`gives ${client} one block that works as it is pasted`, async () => {
        const { context, page, faults } = await visitAs(browser, service)
        await page.goto(`${service.url}/console/connect?client=${client}&repository=releases`)
        const made = page.waitForResponse(
          (answer) => answer.request().method() === 'POST' && /tokens/.test(answer.url()),
        )
        await hands.press(page.getByRole('button', { name: 'Make a token' }))
        const { token } = await (await made).json()
        await page.getByText('The token is in it').waitFor()
        const block = (await page.locator('.commands pre').textContent()) ?? ''
        const folder = await mkdtemp(join(tmpdir(), 'svc-block-'))
        await works({ block, token, address: service.url, folder })
        await rm(folder, { recursive: true })
        assert.ok(!page.url().includes(token))
        assert.deepEqual(faults, [])
        await context.close()
      })

    it('puts nothing into a block that came with an address, unless a repository has that name', async () => {
      const { context, page, faults } = await visitAs(browser, service)
      const named = encodeURIComponent("releases/raw/x'; id; echo '")
      for (const client of Object.keys(blocks)) {
        await page.goto(`${service.url}/console/connect?client=${client}&repository=${named}`)
        await page.getByText('There is no repository of this name').waitFor()
        assert.equal(await page.locator('.commands').count(), 0)
        assert.equal(await page.getByRole('button', { name: 'Make a token' }).count(), 0)
      }
      await page.goto(`${service.url}/console/r/releases/files/${encodeURIComponent("it's (a) folder")}/`)
      const block = (await page.locator('.commands pre').textContent()) ?? ''
      const { code, stdout, stderr } = await runProgram('sh', ['-euc', `curl() { printf '%s\\n' "$@"; }\n${block}`], {})
      assert.equal(code, 0, stderr)
      assert.equal(
        stdout.trimEnd().split('\n').at(-1),
        `${service.url}/api/v1/repositories/releases/raw/it's%20(a)%20folder/hello.txt`,
      )
      assert.deepEqual(
        faults.filter((fault) => !fault.includes('404')),
        [],
      )
      await context.close()
    })

    it('runs nothing of what is stored: a drawing is text, and no picture by its name', async () => {
      const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "owned"</script></svg>'
      const { context, page, faults } = await visitAs(browser, service)
      for (const name of ['drawing.svg', 'picture.png']) {
        const { json } = await expectAnswer(
          service,
          {
            method: 'PUT',
            path: `/api/v1/repositories/releases/raw/drawn/${name}`,
            credential: owner.token,
            body: drawing,
          },
          201,
        )
        await page.goto(`${service.url}/console/r/releases/artifacts/${json.artifact.id}?tab=content`)
        if (name === 'drawing.svg') await page.getByText('<script>document.title').waitFor()
        else {
          const picture = page.locator('.preview-image')
          await picture.waitFor({ state: 'attached' })
          await until('the picture was tried', () => picture.evaluate(isTried))
          assert.equal(await picture.evaluate(widthOf), 0)
        }
        assert.notEqual(await page.title(), 'owned')
      }
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('calls by its number what would not be seen of a name, wherever the name stands', async () => {
      const name = 'turned\u202egnp\u200b\u2066.exe'
      const stored = await service.ask({
        method: 'PUT',
        path: `/api/v1/repositories/releases/raw/odd/${encodeURIComponent(name)}`,
        credential: owner.token,
        body: 'a\u202eb',
      })
      assert.equal(stored.status, 201)
      const { id } = stored.json.artifact
      const { context, page, faults } = await visitAs(browser, service)
      const shown = page.getByText('turnedU+202EgnpU+200BU+2066.exe')
      for (const path of [
        '/',
        '/search?q=turned',
        '/r/releases/files/odd/',
        `/r/releases/file/odd/${encodeURIComponent(name)}`,
        '/r/releases/artifacts?q=turned',
        `/r/releases/artifacts/${id}`,
        '/r/releases/activity',
      ]) {
        await page.goto(`${service.url}/console${path}`)
        await shown.first().waitFor()
        const markup = `${await page.title()} ${await page.content()}`
        assert.doesNotMatch(markup, /[\p{Bidi_Control}\u200b]/u, path)
      }
      await page.goto(`${service.url}/console/r/releases/artifacts/${id}?tab=content`)
      await page.getByText('aU+202Eb').waitFor()
      assert.match(await page.title(), /turned\[U\+202E\]gnp/)
      await page.keyboard.press('Control+K')
      await page.getByRole('combobox', { name: 'Find anything' }).fill('turned')
      await page
        .getByRole('option', { name: /turned\s?U\+202E\s?gnp/ })
        .first()
        .waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('promotes an image and an npm package, with the tag and the stage that they are to have there', async () => {
      const expect = (asked: Ask, status: number) =>
        expectAnswer(service, { credential: owner.token, ...asked }, status)
      await pusher(expect).pushImage('releases/team/app', 'v1')
      await npmPublisher(service, owner.token).publish({ name: 'tool', version: '1.0.0' })
      const { context, page, faults } = await visitAs(browser, service)
      const dialog = page.getByRole('dialog', { name: 'Promote' })
      for (const [kind, search, shown] of [
        ['images', 'image=team/app&reference=v1', 'team/app:'],
        ['npm', 'package=tool&version=1.0.0', 'tool@1.0.0'],
      ] as const) {
        await page.goto(`${service.url}/console/r/releases/${kind}?${search}`)
        await hands.press(page.getByRole('button', { name: 'Promote' }))
        await hands.take(dialog.getByRole('combobox', { name: 'Into' }), 'builds')
        await hands.type(dialog.getByLabel('Tags there'), 'chosen')
        await page.keyboard.press('Enter')
        await hands.type(dialog.getByLabel('Stages there'), 'accepted')
        await page.keyboard.press('Enter')
        await dialog.getByText('Nothing holds accepted there now.').waitFor()
        await hands.type(dialog.getByLabel('Comment'), `the first of ${kind}`)
        await hands.press(dialog.getByRole('button', { name: 'Copy' }))
        await page.waitForURL(new RegExp(`/r/builds/${kind}`))
        await page.getByRole('heading', { name: shown }).first().waitFor()
        await page.getByText(`the first of ${kind}`).first().waitFor()
        await page.getByText('accepted').first().waitFor()
        assert.deepEqual(await faultsOfAccess(page), [])
      }
      const base = '/api/v1/repositories/builds'
      const tags = await expect({ path: `${base}/images/tags?image=team/app` }, 200)
      assert.ok(tags.json.items.some(({ tag }: { tag: string }) => tag === 'chosen'))
      const versions = await expect({ path: `${base}/npm/versions?package=tool` }, 200)
      assert.ok(versions.json.items[0].tags.includes('chosen'))
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('asks the service for little: four questions a page at most, beside what stands around every page', async () => {
      const { context, page, faults } = await visitAs(browser, service)
      const around = /^\/(?:api\/v1\/auth\/(?:me|permissions|options)|health\/ready)$/
      const asked: string[] = []
      const open = new Set<Request>()
      page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url())
        if (!/^\/(?:api|health)\//.test(pathname) || around.test(pathname) || searchParams.has('wait')) return
        asked.push(pathname)
        open.add(request)
      })
      page.on('requestfinished', (request) => void open.delete(request))
      page.on('requestfailed', (request) => void open.delete(request))
      const artifacts = `/r/releases/artifacts/${artifact}`
      const single = [
        ...['', '?tab=content', '?tab=history', '?tab=attached', '?tab=kept'].map((tab) => artifacts + tab),
        ...['', '&tab=history'].flatMap((tab) => [
          `/r/releases/images?image=team/app&reference=v1${tab}`,
          `/r/releases/npm?package=tool&version=1.0.0${tab}`,
        ]),
      ]
      for (const path of [...lists, ...single]) {
        asked.length = 0
        await page.goto(`${service.url}/console${path}`)
        await page.locator('main h1').waitFor()
        await page.locator('.skeleton').first().waitFor({ state: 'detached' })
        await until('everything was answered', async () => open.size === 0)
        assert.ok(asked.length <= 4, `${path}: ${asked.join(' ')}`)
      }
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('lets a key look after a service, and takes that back and gives it again', async () => {
      const bindings = [binding('releases', 'artifact.read')]
      const keeper = await createServiceAccount(service, bindings, 'svc-keeper')
      await activeKey(service, keeper.id, { bindings, name: 'keeping' })
      await createServiceAccount(service, bindings, 'svc-kept')
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/me`)
      await addKey(hands, page, service.recoveryKey)
      await page.locator('.band.key').waitFor()
      // By links, for a reload forgets the key.
      await hands.press(page.getByRole('link', { name: 'Access' }).first())
      await hands.press(page.getByRole('link', { name: 'Services' }))
      await hands.press(page.getByRole('link', { name: 'svc-keeper' }))
      await hands.press(page.getByRole('button', { name: 'Delegations' }))
      const dialog = page.getByRole('dialog', { name: 'What keeping looks after' })
      await dialog.getByText('It looks after no service').waitFor()
      await hands.press(dialog.getByRole('button', { name: /^Let it look after a service/ }))
      await hands.take(dialog.getByRole('combobox', { name: 'Service' }), 'svc-kept')
      await hands.press(dialog.getByRole('button', { name: 'Let it look after a service' }))
      await dialog.getByText('svc-kept').waitFor()
      assert.deepEqual(await faultsOfAccess(page), [])
      await hands.press(dialog.getByRole('button', { name: /^End it/ }))
      await dialog.getByText('It looks after no service').waitFor()
      await hands.undo(page)
      await dialog.getByText('svc-kept').waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('tells of what needs somebody to whom a key lets do something about it', async () => {
      const { context, page, faults } = await visitAs(browser, service, 'ann')
      const needs = page.getByRole('heading', { name: 'Needs somebody' })
      await page.goto(`${service.url}/console/`)
      await page.getByRole('heading', { name: 'Newest' }).waitFor()
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      assert.equal(await needs.count(), 0)
      await page.goto(`${service.url}/console/me`)
      await addKey(hands, page, service.recoveryKey)
      await page.locator('.band.key').waitFor()
      await hands.press(page.getByRole('link', { name: 'Home' }).first())
      await needs.waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('ends the upload of somebody else, who is told so', async () => {
      await grant(service, ann, 'releases', 'write')
      const { location } = (await openUpload(service, ann.token, 'releases', newFile('long.bin', 'x').descriptor))
        .headers
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/system?tab=uploads`)
      await hands.press(page.getByRole('button', { name: 'Cancel' }).first())
      await page.getByRole('dialog', { name: 'Cancel' }).getByText('Whoever sends it begins anew').waitFor()
      assert.deepEqual(await faultsOfAccess(page), [])
      await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).last())
      await page.getByText('The upload has ended').waitFor()
      const told = await service.ask({ path: String(location), credential: ann.token })
      assert.equal(told.json.state ?? told.json.status ?? told.status, 'cancelled', told.text)
      assert.deepEqual(faults, [])
      const other = await visitAs(browser, service, 'ann')
      await other.page.goto(`${service.url}/console/system?tab=uploads`)
      await other.page.getByText('Only administrators see this.').waitFor()
      assert.deepEqual(other.faults, [])
      await other.context.close()
      await context.close()
    })

    it('ends many paths at once and brings them back, and shows what was here on a day', async () => {
      for (const name of ['a', 'b', 'c'])
        for (const body of ['one', 'two'])
          await service.ask({
            method: 'PUT',
            path: `/api/v1/repositories/releases/raw/day/${name}.txt`,
            credential: owner.token,
            body: `${name} ${body}`,
          })
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/r/releases/files/day/`)
      for (const name of ['a.txt', 'b.txt', 'c.txt'])
        await hands.choose(page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) }))
      const bar = page.getByRole('region', { name: 'With what is chosen' })
      await bar.getByText('3 chosen').waitFor()
      await hands.press(bar.getByRole('button', { name: 'End this path' }))
      await hands.press(page.getByRole('dialog').getByRole('button', { name: 'End this path' }))
      await page.getByText('3 are gone').waitFor()
      await page.getByRole('link', { name: 'a.txt' }).waitFor({ state: 'detached' })
      await hands.undo(page)
      await page.getByRole('link', { name: 'c.txt' }).waitFor()
      const day = (daysAgo: number): string => {
        const then = new Date(Date.now() - daysAgo * 86_400_000)
        return [then.getFullYear(), then.getMonth() + 1, then.getDate()]
          .map((each) => `${each}`.padStart(2, '0'))
          .join('-')
      }
      await page.goto(`${service.url}/console/r/releases/file/day/b.txt`)
      await page.getByText('Revision 4').first().waitFor()
      await page.getByLabel('As it was on a day').fill(day(2))
      await page.getByText('There was nothing here yet on that day').waitFor()
      await page.getByLabel('As it was on a day').fill(day(0))
      await page.waitForURL(/rev=4/)
      await page.goto(`${service.url}/console/r/releases/artifacts`)
      await page.getByLabel('Jump to a day').fill(day(2))
      await page.getByText('Nothing matches').waitFor()
      await page.getByLabel('Jump to a day').fill(day(0))
      await page.getByRole('link', { name: 'b.txt' }).first().waitFor()
      assert.deepEqual(await faultsOfAccess(page), [])
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('deletes versions of an npm package and brings them back, one and many, by a key that may', async () => {
      const npm = npmPublisher(service, owner.token)
      for (const version of ['1.0.0', '1.1.0', '1.2.0']) await npm.publish({ name: 'gone', version })
      const bindings = [binding('releases', 'artifact.delete')]
      const { id } = await createServiceAccount(service, bindings, 'svc-sweeper')
      const { secret } = await activeKey(service, id, { bindings, name: 'sweeping' })
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/me`)
      await addKey(hands, page, secret)
      // By links, for a reload forgets the key.
      await hands.press(page.getByRole('link', { name: 'Repositories' }).first())
      await hands.press(page.getByRole('link', { name: 'releases', exact: true }).first())
      await hands.press(page.getByRole('link', { name: 'npm', exact: true }).first())
      await hands.press(page.getByRole('link', { name: 'gone', exact: true }))
      await hands.press(page.getByRole('link', { name: '1.2.0', exact: true }))
      await hands.press(page.getByRole('button', { name: 'Delete' }))
      const dialog = page.getByRole('dialog')
      await dialog.getByText('its number is never given again').waitFor()
      assert.deepEqual(await faultsOfAccess(page), [])
      await hands.press(dialog.getByRole('button', { name: 'Delete', exact: true }))
      await page.getByText('gone@1.2.0 was deleted').waitFor()
      await page.getByRole('link', { name: '1.2.0', exact: true }).waitFor({ state: 'detached' })
      await hands.undo(page)
      await page.getByText('gone@1.2.0 is back').waitFor()
      for (const name of ['1.0.0', '1.2.0'])
        await hands.choose(page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) }))
      const bar = page.getByRole('region', { name: 'With what is chosen' })
      await hands.press(bar.getByRole('button', { name: 'Delete' }))
      await hands.press(dialog.getByRole('button', { name: 'Delete', exact: true }))
      await page.getByText('2 are gone').waitFor()
      assert.deepEqual(Object.keys((await npm.document('gone')).json.versions), ['1.1.0'])
      await hands.undo(page)
      await page.getByRole('link', { name: '1.0.0', exact: true }).waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('tells of a download that waits why it does, and begins it by itself when its turn comes', async () => {
      const bytes = randomBytes(24 * MiB)
      const base = '/api/v1/repositories/releases'
      const large = { path: `${base}/raw/large.img`, credential: owner.token }
      const stored = await expectAnswer(service, { ...large, method: 'PUT', body: bytes }, 201)
      const slow = await startSlowly(service.url, large)
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/r/releases/artifacts/${stored.json.artifact.id}`)
      const button = page.getByRole('button', { name: 'Download', exact: true })
      await hands.press(button)
      await page.getByText('All places are taken. This download waits').waitFor()
      assert.deepEqual(await faultsOfAccess(page), [])
      await hands.press(page.getByRole('button', { name: 'Do not wait' }))
      await page.getByText('All places are taken').waitFor({ state: 'detached' })
      await hands.press(button)
      await page.getByText('All places are taken').waitFor()
      const [begun] = await Promise.all([page.waitForEvent('download'), slow.vanish()])
      assert.ok((await readFile(await begun.path())).equals(bytes))
      assert.equal(begun.suggestedFilename(), 'large.img')
      // What is small waits for nobody, and an empty file has no first byte to ask for.
      const empty = await expectAnswer(service, { ...large, path: `${base}/raw/empty`, method: 'PUT', body: '' }, 201)
      await page.goto(`${service.url}/console/r/releases/artifacts/${empty.json.artifact.id}`)
      const [nothing] = await Promise.all([page.waitForEvent('download'), hands.press(button)])
      assert.equal((await readFile(await nothing.path())).byteLength, 0)
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('keeps what is written in two windows at once, and asks where both changed the same', async () => {
      const { context, page, faults } = await visitAs(browser, service)
      const window = await context.newPage()
      const both = [page, window] as const
      const metadata = (of: Page) => of.getByRole('dialog').getByLabel('Metadata')
      const save = (of: Page) => hands.press(of.getByRole('dialog').getByRole('button', { name: 'Save' }))
      const edit = async (of: Page): Promise<void> => {
        await of.bringToFront()
        await of.goto(`${service.url}/console/r/releases/artifacts/${artifact}`)
        const part = of.locator('section').filter({ hasText: 'What is said of it' })
        await hands.press(part.getByRole('button', { name: 'Edit', exact: true }))
        await metadata(of).waitFor()
      }
      for (const each of both) await edit(each)
      await window.bringToFront()
      await hands.type(metadata(window), 'branch=main\nbuilder=two')
      await save(window)
      await window.getByText('builder').first().waitFor()
      await page.bringToFront()
      await hands.type(metadata(page), 'ticket=17')
      await save(page)
      await page.getByText('Both changes fit together').waitFor()
      const fitting = (await metadata(page).inputValue()).split('\n')
      assert.deepEqual(fitting.sort(), ['branch=main', 'builder=two', 'ticket=17'])
      await save(page)
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      for (const each of both) await edit(each)
      await window.bringToFront()
      await hands.type(metadata(window), 'ticket=theirs')
      await save(window)
      await window.getByRole('dialog').waitFor({ state: 'hidden' })
      await page.bringToFront()
      await hands.type(metadata(page), 'ticket=mine')
      await save(page)
      await page.getByText('Both of you changed: ticket.').waitFor()
      assert.match((await page.getByRole('alert').textContent()) ?? '', /− ticket=theirs · \+ ticket=mine/)
      await save(page)
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      const kept = await service.ask({
        path: `/api/v1/repositories/releases/artifacts/${artifact}/annotations`,
        credential: service.recoveryKey,
      })
      assert.deepEqual(kept.json.metadata, { ticket: 'mine' })
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('finds a file by a part of its name in the palette', async () => {
      const { context, page, faults } = await visitAs(browser, service)
      await page.goto(`${service.url}/console/`)
      await page.locator('main h1').waitFor()
      await page.keyboard.press('Control+K')
      await hands.type(page.getByRole('combobox', { name: 'Find anything' }), 'привет')
      await page
        .getByRole('option', { name: /привет\.html/ })
        .first()
        .waitFor()
      while ((await page.getByRole('option', { name: /привет\.html/, selected: true }).count()) === 0)
        await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: /привет/ }).waitFor()
      assert.deepEqual(faults, [])
      await context.close()
    })

    it('keeps a window of a long list, whose beginning comes again', async () => {
      const { context, page, faults } = await visitAs(browser, service)
      const asked: number[] = []
      await page.route(/\/repositories\/releases\/search\?/, (route) => {
        const from = Number(new URL(route.request().url()).searchParams.get('after') ?? 0)
        asked.push(from)
        const items = Array.from({ length: 100 }, (_, row) => ({
          ...{ id: `${from + row}`, name: `row ${from + row}`, size: '1', labels: [], stages: [] },
          ...{ createdAt: '2026-01-01T00:00:00.000Z', publishedAt: null },
        }))
        return route.fulfill({ json: { items, next: String(from + 100) } })
      })
      const row = (number: number) => page.getByRole('link', { name: `row ${number}`, exact: true })
      await page.goto(`${service.url}/console/r/releases/artifacts`)
      await row(0).waitFor()
      await until('more than forty pages', async () => {
        await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
        return asked.includes(4500)
      })
      assert.ok(Number(await page.evaluate('document.documentElement.scrollHeight')) > 4500 * 28)
      asked.length = 0
      await page.evaluate('scrollTo(0, 0)')
      await row(0).waitFor()
      assert.ok(asked.includes(0), 'the first page was asked for again')
      assert.deepEqual(faults, [])
      await context.close()
    })
  })
})

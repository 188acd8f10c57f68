import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { visit } from '../test/harness/browser.ts'
import { byPointer as hands } from '../test/harness/hands.ts'
import { blocks } from '../test/harness/pasted-blocks.ts'
import { keyIn, listening, settingsFor, startSvc } from '../test/harness/processes.ts'
import { makeFolder } from './processes.ts'

const password = 'a password of the newcomer'
const files = 300

/**
 * The first minutes of somebody who has just started the service, in a browser: from the recovery key to what is
 * promoted and taken back. A person reads and thinks between the steps; this says what the service and its pages cost.
 */
export const firstMinutes = async (browser: Browser): Promise<void> => {
  const dataDir = await makeFolder('newcomer')
  const service = startSvc(['up'], settingsFor({ dataDir }))
  const began = performance.now()
  const address = await listening(service)
  const { context, page, faults } = await visit(browser)
  page.on('dialog', (dialog) => void dialog.accept())
  const step = async (what: string, work: () => Promise<void>): Promise<void> => {
    const from = performance.now()
    await work()
    console.log(`${what.padEnd(48)}${((performance.now() - from) / 1000).toFixed(1).padStart(26)} s`)
  }
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const link = (name: string | RegExp) => page.getByRole('link', { name, exact: typeof name === 'string' }).first()
  const dialog = page.getByRole('dialog')
  try {
    await step('the first owner, by the recovery key', async () => {
      await page.goto(`${address}/console/`)
      await hands.type(page.getByLabel('Recovery key'), keyIn(dataDir, 'bootstrap-token.txt'))
      await hands.type(page.getByLabel('Name'), 'owner')
      await hands.type(page.getByLabel('Password', { exact: true }), password)
      await hands.press(button('Begin'))
      await page.locator('.shell').waitFor()
    })
    await step('a repository', async () => {
      await hands.press(link('Repositories'))
      await hands.press(button('New repository'))
      await hands.type(dialog.getByLabel('Name'), 'builds')
      await hands.take(dialog.getByRole('combobox', { name: 'Group that may write in it' }), 'svc-owners')
      await hands.press(dialog.getByRole('button', { name: 'New repository' }))
      await page.getByText('Drop files or a folder here').waitFor()
    })
    await step('a colleague who may read it', async () => {
      await hands.press(link('Access'))
      await hands.press(button('New group'))
      await hands.type(dialog.getByLabel('Name'), 'readers')
      await hands.press(dialog.getByRole('button', { name: 'Create' }))
      const card = page.getByRole('listitem').filter({ hasText: 'readers' })
      await hands.press(card.getByRole('button', { name: 'Grant a repository' }))
      await hands.take(dialog.getByRole('combobox', { name: 'Repository' }), 'builds')
      await hands.press(dialog.getByRole('button', { name: 'Grant a repository' }))
      await hands.press(link('People'))
      await hands.press(button('New person'))
      await hands.type(dialog.getByLabel('Name'), 'colleague')
      await hands.type(dialog.getByLabel('Password', { exact: true }), password)
      await hands.take(dialog.getByRole('combobox', { name: 'Group' }), 'readers')
      await hands.press(dialog.getByRole('button', { name: 'Create' }))
      await page.getByRole('row', { name: /^colleague/ }).waitFor()
    })
    await step('what the colleague sees', async () => {
      const theirs = await visit(browser)
      await theirs.page.goto(`${address}/console/r`)
      await theirs.page.getByLabel('Name').fill('colleague')
      await theirs.page.getByLabel('Password', { exact: true }).fill(password)
      await theirs.page.keyboard.press('Enter')
      await theirs.page.getByRole('link', { name: 'builds', exact: true }).first().waitFor()
      await theirs.context.close()
    })
    const dropped = join(dataDir, 'dropped', 'build')
    await mkdir(dropped, { recursive: true })
    for (let number = 0; number < files; number += 1)
      await writeFile(join(dropped, `file-${number}.txt`), `file ${number} `.repeat(200))
    const send = async (): Promise<void> => {
      await hands.press(link('Repositories'))
      await hands.press(link('builds'))
      await hands.give(button('Choose a folder'), dropped)
      await hands.press(button(/^Send /))
      await hands.press(link(/Transfers/))
    }
    await step(`${files} files, the page loaded again amid them`, async () => {
      await send()
      await page.getByText(/^[1-9]\d\d of 300 files done/).waitFor()
      await page.reload()
      await page.locator('main h1').waitFor()
      await send()
      await page.getByText(`${files} of ${files} files done`).waitFor()
    })
    const connect = async (client: 'docker' | 'npm'): Promise<void> => {
      await hands.press(link('Connect'))
      await hands.press(button(client === 'docker' ? 'Container images' : client))
      await hands.take(page.getByRole('combobox', { name: 'Repository' }), 'releases')
      const made = page.waitForResponse((answer) => /tokens$/.test(answer.url()) && answer.status() === 201)
      await hands.press(button('Make a token'))
      const { token } = await (await made).json()
      await page.getByText('The token is in it').waitFor()
      const block = (await page.locator('.commands pre').textContent()) ?? ''
      await blocks[client]({ block, token, address, folder: await makeFolder(client) })
      await hands.press(button('I have stored it'))
    }
    await step('the block for docker, pasted: signed in, pushed', () => connect('docker'))
    await step('the block for npm, pasted: answered', () => connect('npm'))
    await step('a file promoted, with a comment', async () => {
      await hands.press(link('Repositories'))
      await hands.press(link('builds'))
      await hands.press(link('Published'))
      await hands.press(
        page
          .getByRole('row')
          .getByRole('link', { name: /^file-/ })
          .first(),
      )
      await hands.press(button('Promote'))
      await hands.take(dialog.getByRole('combobox', { name: 'Into' }), 'releases')
      await hands.type(dialog.getByLabel('Comment'), 'the first one')
      await hands.press(dialog.getByRole('button', { name: 'Copy' }))
      await page.getByText('Copied here by').waitFor()
    })
    await step('a path ended, and that taken back', async () => {
      await hands.press(link('Repositories'))
      await hands.press(link('builds'))
      await hands.press(link('build/'))
      await hands.press(link('file-0.txt'))
      await hands.press(button('End this path'))
      await hands.press(dialog.getByRole('button', { name: 'End this path' }))
      await hands.press(button('Undo'))
      await page.getByText('It is back').waitFor()
    })
    console.log(`all of it, the start of the service with it: ${((performance.now() - began) / 1000).toFixed(0)} s`)
    for (const fault of faults) console.log(`the policy refused, or a script threw: ${fault}`)
    await context.close()
  } finally {
    service.child.kill('SIGTERM')
    await service.ended
  }
}

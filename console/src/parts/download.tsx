import { Button } from '@mantine/core'
import { useState } from 'react'
import { serviceAddress } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { ask } from '../session/holders.ts'
import { t } from '../words/words.ts'
import { tellProblem } from './toasts.tsx'

const seconds = 5 * 60
const bytesPerSecondSlow = 256 * 1024
const secondsMax = 24 * 3600

/** Whom a link of the service leads to, below the address by which we know it. */
const linkAddress = (url: string): string => {
  const given = new URL(url, serviceAddress())
  const at = given.pathname.indexOf('/api/v1/')
  return new URL(given.pathname.slice(at + 1) + given.search, serviceAddress()).href
}

/** A link that the browser itself follows: it goes on after a cut, and no script holds the bytes. */
const downloadArtifact = async (repository: string, id: string, size: number): Promise<void> => {
  const ttlSeconds = Math.min(secondsMax, Math.max(seconds, Math.ceil(size / bytesPerSecondSlow)))
  const { url } = await ask('createLink', { path: { repository, id }, body: { ttlSeconds } })
  const link = document.createElement('a')
  link.href = linkAddress(url)
  link.download = ''
  link.click()
}

export const Download = ({
  repository,
  id,
  size,
}: {
  readonly repository: string
  readonly id: string
  readonly size: number
}) => {
  const [busy, setBusy] = useState(false)
  const start = async (): Promise<void> => {
    setBusy(true)
    try {
      await downloadArtifact(repository, id, size)
    } catch (error) {
      tellProblem(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button loading={busy} leftSection={<Icon name="download" />} onClick={() => void start()}>
      {t('file.download')}
    </Button>
  )
}

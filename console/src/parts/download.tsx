import { Button } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { serviceAddress } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { randomId } from '../platform/ids.ts'
import { ask } from '../session/holders.ts'
import { t } from '../words/words.ts'
import { tellProblem } from './toasts.tsx'
import { type Standing, smallBytes, takeTurn } from './turn.ts'

const seconds = 5 * 60
const bytesPerSecondSlow = 256 * 1024
const secondsMax = 24 * 3600
/** For so long a turn is kept for the browser, which begins when it likes. */
const handOverMs = 3_000

/** Whom a link of the service leads to, below the address by which we know it. */
const linkAddress = (url: string): URL => {
  const given = new URL(url, serviceAddress())
  const at = given.pathname.indexOf('/api/v1/')
  return new URL(given.pathname.slice(at + 1) + given.search, serviceAddress())
}

interface Wanted {
  readonly repository: string
  readonly id: string
  readonly size: number
}

/** A link that the browser itself follows: it goes on after a cut, and no script holds the bytes. */
const downloadArtifact = async (
  { repository, id, size }: Wanted,
  tell: (standing: Standing) => void,
  signal: AbortSignal,
): Promise<void> => {
  const ttlSeconds = Math.min(secondsMax, Math.max(seconds, Math.ceil(size / bytesPerSecondSlow)))
  const { url } = await ask('createLink', { path: { repository, id }, body: { ttlSeconds } })
  const address = linkAddress(url)
  if (size > smallBytes) {
    const downloadId = randomId()
    const letGo = await takeTurn(address.href, downloadId, tell, signal)
    address.searchParams.set('downloadId', downloadId)
    setTimeout(letGo, handOverMs)
  }
  const link = document.createElement('a')
  link.href = address.href
  link.download = ''
  link.click()
}

export const Download = (wanted: Wanted) => {
  const [standing, setStanding] = useState<Standing | null>(null)
  const [busy, setBusy] = useState(false)
  const waiting = useRef<AbortController | null>(null)
  useEffect(() => () => waiting.current?.abort(), [])
  const start = async (): Promise<void> => {
    const given = new AbortController()
    waiting.current = given
    setBusy(true)
    try {
      await downloadArtifact(wanted, setStanding, given.signal)
    } catch (error) {
      if (!given.signal.aborted) tellProblem(error)
    } finally {
      waiting.current = null
      setBusy(false)
      setStanding(null)
    }
  }
  return (
    <>
      {/* Before the button, which stays where it was pressed. */}
      <span className="line small" role="status">
        {standing === null ? null : (
          <>
            {t('file.waits', { waiting: standing.waiting, seconds: standing.seconds })}
            <Button variant="default" size="compact-sm" onClick={() => waiting.current?.abort()}>
              {t('file.waitNoMore')}
            </Button>
          </>
        )}
      </span>
      <Button loading={busy} leftSection={<Icon name="download" />} onClick={() => void start()}>
        {t('file.download')}
      </Button>
    </>
  )
}

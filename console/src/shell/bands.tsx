import { useEffect, useState } from 'react'
import { useAsk } from '../contract/asking.ts'
import { Icon } from '../look/icons.tsx'
import { forgetKeys, useHolders } from '../session/holders.ts'
import { session } from '../session/session.ts'
import { relativeTime } from '../values/format.ts'
import { t } from '../words/words.ts'

const warnBeforeMs = 10 * 60_000

const useOnline = (): boolean => {
  const [online, setOnline] = useState(navigator.onLine)
  useEffect(() => {
    const look = (): void => setOnline(navigator.onLine)
    window.addEventListener('online', look)
    window.addEventListener('offline', look)
    return () => {
      window.removeEventListener('online', look)
      window.removeEventListener('offline', look)
    }
  }, [])
  return online
}

/** What everybody has to know of this moment: that nobody answers, that nothing can be changed, whose keys are here. */
export const Bands = () => {
  const { keys } = useHolders()
  const online = useOnline()
  const ready = useAsk('getReadiness', {}, { everyMs: 60_000 })
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [])
  const ends = session()?.expiresAt
  const endsSoon = ends !== undefined && Date.parse(ends) - now < warnBeforeMs && Date.parse(ends) > now
  return (
    <>
      {online ? null : (
        <div className="band danger" role="status">
          <Icon name="alert" />
          {t('band.offline')}
        </div>
      )}
      {ready.data?.role === 'reader' ? (
        <div className="band" role="status">
          <Icon name="info" />
          {t('band.reader')}
        </div>
      ) : ready.data?.writable === false ? (
        <div className="band warn" role="status">
          <Icon name="alert" />
          {t('band.full')}
        </div>
      ) : null}
      {endsSoon && ends !== undefined ? (
        <div className="band warn" role="status">
          <Icon name="clock" />
          {t('band.ends', { when: relativeTime(ends, now) })}
        </div>
      ) : null}
      {keys.length === 0 ? null : (
        <div className="band key" role="status">
          <Icon name="key" />
          <span>
            {t('band.keys', { names: keys.map(({ name }) => name).join(', ') })}{' '}
            <button type="button" className="link" onClick={forgetKeys}>
              {t('keys.forget')}
            </button>
          </span>
        </div>
      )}
      {window.isSecureContext ? null : (
        <div className="band" role="note">
          <Icon name="info" />
          {t('band.plain')}
        </div>
      )}
    </>
  )
}

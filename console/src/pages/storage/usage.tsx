import { useAsk } from '../../contract/asking.ts'
import { Facts } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Meter, Moment, Size, Tag } from '../../parts/values.tsx'
import { lengthOf, shortBytes } from '../../values/format.ts'
import { said, t } from '../../words/words.ts'
import { Cleanup } from './cleanup.tsx'
import type { Of } from './of.ts'
import { UsageOverTime } from './over-time.tsx'

const tones = { unlimited: 'plain', normal: 'ok', warning: 'warn', critical: 'danger', exceeded: 'danger' } as const

const meters = { unlimited: '', normal: '', warning: 'warn', critical: 'danger', exceeded: 'danger' } as const

/** What is used of the quota, and by what. */
export const Usage = ({ repository }: Of) => {
  const usage = useAsk('getStorageUsage', { path: { repository } })
  return (
    <>
      <Shown of={usage}>
        {(now) => {
          const used = Number(now.publishedBytes) + Number(now.retiredBytes) + Number(now.reservedBytes)
          const part = now.quotaBytes === null ? null : Math.min(1, used / Math.max(1, Number(now.quotaBytes)))
          return (
            <div className="panel">
              <div className="spread">
                <span className="strong">
                  {now.quotaBytes === null
                    ? t('storage.used', { used: shortBytes(used) })
                    : t('storage.of', { used: shortBytes(used), quota: shortBytes(Number(now.quotaBytes)) })}
                </span>
                <Tag tone={tones[now.state]} text={said('storage.state', now.state)} />
              </div>
              {part === null ? null : <Meter name={t('storage.quota')} part={part} tone={meters[now.state]} />}
              <Facts
                facts={[
                  [t('storage.published'), <Size key="p" bytes={now.publishedBytes} />],
                  [t('storage.pending'), <Size key="n" bytes={now.pendingBytes} />],
                  [t('storage.retired'), <Size key="r" bytes={now.retiredBytes} />],
                  [t('storage.reserved'), <Size key="v" bytes={now.reservedBytes} />],
                  [t('storage.grace'), lengthOf(now.graceHours * 3600)],
                  [t('storage.next'), now.nextReleaseAt === null ? '–' : <Moment key="x" at={now.nextReleaseAt} />],
                ]}
              />
            </div>
          )
        }}
      </Shown>
      <UsageOverTime repository={repository} />
      <Cleanup repository={repository} />
    </>
  )
}

import { Button } from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../contract/asking.ts'
import { Icon } from '../look/icons.tsx'
import { momentColumn } from '../parts/columns.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Grid } from '../parts/grid.tsx'
import { Listed } from '../parts/listed.tsx'
import { Page, Section } from '../parts/page.tsx'
import { Empty, Failed } from '../parts/states.tsx'
import { tellProblem } from '../parts/toasts.tsx'
import { Meter, Size, Tag, Written } from '../parts/values.tsx'
import { again, cancel, clearDone, reopen, type Upload, useUploads } from '../upload/queue.ts'
import { said, t } from '../words/words.ts'

const tones = {
  waiting: 'plain',
  reading: 'info',
  sending: 'info',
  finishing: 'info',
  done: 'ok',
  same: 'ok',
  failed: 'danger',
  paused: 'warn',
  'no-file': 'warn',
  cancelled: 'plain',
} as const

/** What goes up from this tab, and what of one's own the service still waits for. */
export const Transfers = () => {
  const uploads = useUploads()
  const done = uploads.filter(({ state }) => state === 'done' || state === 'same').length
  return (
    <Page
      title={t('nav.transfers')}
      lead={t('transfers.lead')}
      actions={
        done === 0 ? undefined : (
          <Button variant="default" onClick={clearDone}>
            {t('transfers.clear')}
          </Button>
        )
      }
    >
      <Section title={t('transfers.tab')}>
        {uploads.length === 0 ? (
          <Empty icon="upload" title={t('transfers.none')}>
            <p className="muted">{t('transfers.how')}</p>
          </Empty>
        ) : (
          <>
            <p role="status">{t('transfers.count', { done, count: uploads.length })}</p>
            <Uploads uploads={uploads} />
          </>
        )}
      </Section>
      <Waiting />
      <Jobs />
    </Page>
  )
}

const Uploads = ({ uploads }: { readonly uploads: readonly Upload[] }) => {
  const [failed, setFailed] = useState<Upload | null>(null)
  return (
    <>
      <Grid
        label={t('transfers.tab')}
        rows={uploads}
        keyOf={({ record }) => record.id}
        columns={[
          {
            key: 'path',
            label: t('list.path'),
            width: 'minmax(140px, 3fr)',
            show: ({ record }) => <Written mono text={record.path} />,
          },
          {
            key: 'repository',
            label: t('list.repository'),
            width: 'minmax(80px, 1fr)',
            wide: true,
            show: ({ record }) => record.repository,
          },
          {
            key: 'state',
            label: t('list.state'),
            width: '120px',
            show: ({ state }) => <Tag tone={tones[state]} text={said('upload.state', state)} />,
          },
          {
            key: 'sent',
            label: t('transfers.sent'),
            width: '120px',
            wide: true,
            show: ({ sent, record }) => <Meter name={record.path} part={record.size === 0 ? 1 : sent / record.size} />,
          },
          {
            key: 'size',
            label: t('list.size'),
            width: '84px',
            wide: true,
            end: true,
            show: ({ record }) => <Size bytes={record.size} />,
          },
          {
            key: 'act',
            label: t('list.actions'),
            width: '104px',
            end: true,
            show: (upload) => (
              <span className="line end-line">
                {upload.state === 'failed' ? (
                  <>
                    <button
                      type="button"
                      className="plain"
                      aria-label={t('transfers.why')}
                      onClick={() => setFailed(upload)}
                    >
                      <Icon name="info" />
                    </button>
                    <button
                      type="button"
                      className="plain"
                      aria-label={t('state.again')}
                      onClick={() => again(upload.record.id)}
                    >
                      <Icon name="refresh" />
                    </button>
                  </>
                ) : null}
                {upload.state === 'no-file' && upload.record.handle !== null ? (
                  <button
                    type="button"
                    className="plain"
                    aria-label={t('transfers.continue')}
                    onClick={() => void reopen(upload.record.id).catch(tellProblem)}
                  >
                    <Icon name="refresh" />
                  </button>
                ) : null}
                {/^(?:done|same|cancelled)$/.test(upload.state) ? null : (
                  <button
                    type="button"
                    className="plain"
                    aria-label={t('transfers.cancel')}
                    onClick={() => cancel(upload.record.id)}
                  >
                    <Icon name="cross" />
                  </button>
                )}
              </span>
            ),
          },
        ]}
      />
      {uploads.some(({ state }) => state === 'no-file') ? <p className="band">{t('transfers.again')}</p> : null}
      <Dialog title={failed?.record.path ?? ''} open={failed !== null} close={() => setFailed(null)}>
        {failed === null ? null : <Failed error={failed.error} again={() => again(failed.record.id)} />}
      </Dialog>
    </>
  )
}

const Waiting = () => {
  const own = usePages('listOwnUploads', (after) => ({
    query: { order: 'desc', limit: 50, ...(after === undefined ? {} : { after: String(after) }) },
  }))
  const end = useChange('cancelUpload', ['listOwnUploads'])
  return (
    <Section title={t('transfers.open')}>
      <Listed
        of={own}
        label={t('transfers.open')}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'name',
            label: t('list.name'),
            width: 'minmax(140px, 2fr)',
            show: ({ descriptor }) => descriptor.name,
          },
          {
            key: 'repository',
            label: t('list.repository'),
            width: 'minmax(80px, 1fr)',
            show: ({ repository }) => repository,
          },
          {
            key: 'stored',
            label: t('transfers.stored'),
            width: '96px',
            end: true,
            wide: true,
            show: ({ storedBytes }) => <Size bytes={storedBytes} />,
          },
          {
            key: 'size',
            label: t('list.size'),
            width: '88px',
            end: true,
            show: ({ descriptor }) => <Size bytes={descriptor.size} />,
          },
          momentColumn('expiresAt', t('transfers.ends'), { width: '120px', wide: true }),
          {
            key: 'act',
            label: t('list.actions'),
            width: '48px',
            show: ({ id, repository }) => (
              <button
                type="button"
                className="plain"
                aria-label={t('transfers.cancel')}
                onClick={() => end.mutate({ path: { repository, id } }, { onError: tellProblem })}
              >
                <Icon name="cross" />
              </button>
            ),
          },
        ]}
        empty={<p className="muted">{t('transfers.noneOpen')}</p>}
      />
    </Section>
  )
}

const Jobs = () => {
  const jobs = useAsk('listOwnJobs', { query: { order: 'desc', limit: 50 } }, { everyMs: 5000 })
  if (jobs.data === undefined || jobs.data.items.length === 0) return null
  return (
    <Section title={t('transfers.jobs')}>
      <Grid
        label={t('transfers.jobs')}
        rows={jobs.data.items}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'id',
            label: t('transfers.job'),
            width: 'minmax(120px, 2fr)',
            show: ({ uploadId }) => <code>{uploadId.slice(0, 13)}…</code>,
          },
          {
            key: 'repository',
            label: t('list.repository'),
            width: 'minmax(80px, 1fr)',
            show: ({ repository }) => repository,
          },
          {
            key: 'state',
            label: t('list.state'),
            width: '120px',
            show: ({ status }) => (
              <Tag
                tone={status === 'completed' ? 'ok' : status === 'failed' ? 'danger' : 'info'}
                text={said('job', status)}
              />
            ),
          },
          {
            key: 'error',
            label: t('list.error'),
            width: 'minmax(80px, 1fr)',
            wide: true,
            show: ({ errorCode }) => errorCode,
          },
        ]}
      />
    </Section>
  )
}

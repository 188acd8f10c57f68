import { NumberInput, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { isProblem } from '../../contract/problem.ts'
import { Act } from '../../parts/act.tsx'
import { momentColumn, sizeColumn } from '../../parts/columns.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Facts, Section } from '../../parts/page.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Actor, Moment, Tag, Written } from '../../parts/values.tsx'
import { lengthOf } from '../../values/format.ts'
import { t } from '../../words/words.ts'

interface Of {
  readonly repository: string
}

type Setting = Answer<'getNpmUpstream'>

/** The registry to which npm looks through for what is not published here; none is an answer, too. */
export const Upstream = ({ repository }: Of) => {
  const read = useAsk('getNpmUpstream', { path: { repository } })
  const [editing, setEditing] = useState(false)
  const [ending, setEnding] = useState(false)
  const end = useChange('deleteNpmUpstream')
  const none = isProblem(read.error) && read.error.status === 404
  const now = none ? null : read.data
  return (
    <Section
      title={t('settings.upstream')}
      actions={
        <span className="line">
          <Act
            by="putNpmUpstream"
            size="compact-sm"
            label={now === null ? t('settings.setUpstream') : t('artifact.edit')}
            off={now === undefined}
            run={() => setEditing(true)}
          />
          {now === null || now === undefined ? null : (
            <Act
              by="deleteNpmUpstream"
              size="compact-sm"
              label={t('settings.endUpstream')}
              run={() => setEnding(true)}
            />
          )}
        </span>
      }
    >
      {now === undefined ? (
        read.error === null ? (
          <Loading rows={2} />
        ) : (
          <Failed error={read.error} again={() => void read.refetch()} />
        )
      ) : now === null ? (
        <p className="panel muted">{t('settings.noUpstream')}</p>
      ) : (
        <div className="panel">
          <p className="mono strong">{now.url}</p>
          <Facts
            facts={[
              [t('settings.reserved'), now.reserved.join(', ') || '–'],
              [t('settings.fresh'), lengthOf(now.freshSeconds)],
              [t('settings.saved'), <Moment key="t" at={now.savedAt} />],
              [t('list.who'), <Actor key="w" actor={now.actor} name={now.actorName} />],
            ]}
          />
        </div>
      )}
      {now === null || now === undefined ? null : <Cached repository={repository} />}
      {editing && now !== undefined ? (
        <Edit
          repository={repository}
          now={now}
          close={() => {
            setEditing(false)
            void read.refetch()
          }}
        />
      ) : null}
      <FormDialog
        title={t('settings.endUpstream')}
        open={ending}
        close={() => setEnding(false)}
        submit={() =>
          end.mutate(
            { path: { repository } },
            {
              onSuccess: () => {
                setEnding(false)
                void read.refetch()
              },
            },
          )
        }
        label={t('settings.endUpstream')}
        busy={end.isPending}
        error={end.error}
        danger
      >
        <p>{t('settings.endingUpstream')}</p>
      </FormDialog>
    </Section>
  )
}

const Edit = ({ repository, now, close }: Of & { readonly now: Setting | null; readonly close: () => void }) => {
  const [url, setUrl] = useState(now?.url ?? 'https://registry.npmjs.org/')
  const [reserved, setReserved] = useState<readonly string[]>(now?.reserved ?? [])
  const [seconds, setSeconds] = useState(now?.freshSeconds)
  const put = useChange('putNpmUpstream')
  return (
    <FormDialog
      title={t('settings.upstream')}
      open
      close={close}
      submit={() =>
        put.mutate(
          {
            path: { repository },
            // Whoever set one meanwhile is not written over.
            headers: now === null ? { 'if-none-match': '*' } : {},
            body: { url, reserved: [...reserved], ...(seconds === undefined ? {} : { freshSeconds: seconds }) },
          },
          {
            onSuccess: () => {
              tell(t('artifact.saved'))
              close()
            },
          },
        )
      }
      label={t('dialog.save')}
      busy={put.isPending}
      error={put.error}
      ready={url !== ''}
    >
      <p className="muted">{t('settings.looksThrough')}</p>
      <TextInput
        label={t('settings.registry')}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <TagsInput
        label={t('settings.reserved')}
        description={t('settings.reservedHow')}
        value={[...reserved]}
        onChange={setReserved}
      />
      <NumberInput
        label={t('settings.fresh')}
        description={t('settings.freshHow')}
        value={seconds ?? ''}
        onChange={(value) => setSeconds(value === '' ? undefined : Number(value))}
        min={0}
        allowDecimal={false}
      />
    </FormDialog>
  )
}

/** What came from there and is kept; one package of it is asked for anew after it was dropped. */
const Cached = ({ repository }: Of) => {
  const list = usePages('listCachedNpmPackages', (after) => ({
    path: { repository },
    query: { limit: 100, ...(after === undefined ? {} : { after: String(after) }) },
  }))
  const drop = useChange('dropCachedNpmPackages', ['listCachedNpmPackages'])
  return (
    <Listed
      of={list}
      label={t('settings.cached')}
      keyOf={({ name }) => name}
      columns={[
        {
          key: 'name',
          label: t('list.name'),
          width: 'minmax(120px, 2fr)',
          show: ({ name, failure }) => (
            <span className="name">
              <Written mono text={name} />
              {failure === null ? null : <Tag tone="danger" text={failure} />}
            </span>
          ),
        },
        {
          key: 'kept',
          label: t('settings.tarballs'),
          width: '96px',
          end: true,
          wide: true,
          show: ({ tarballs }) => tarballs,
        },
        sizeColumn('tarballBytes'),
        momentColumn('checkedAt', t('settings.checked'), { wide: true }),
        {
          key: 'act',
          label: t('list.actions'),
          width: '110px',
          end: true,
          show: ({ name }) => (
            <Act
              by="dropCachedNpmPackages"
              size="compact-xs"
              label={t('settings.drop')}
              run={() =>
                drop.mutate(
                  { path: { repository }, query: { package: name } },
                  { onError: tellProblem, onSuccess: () => tell(t('settings.dropped', { name })) },
                )
              }
            />
          ),
        },
      ]}
      empty={<p className="muted">{t('settings.nothingCached')}</p>}
    />
  )
}

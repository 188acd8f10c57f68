import { Select, Switch, TextInput } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../contract/asking.ts'
import type { Answer } from '../contract/call.ts'
import { isProblem } from '../contract/problem.ts'
import { Icon } from '../look/icons.tsx'
import { Act } from '../parts/act.tsx'
import { Commands } from '../parts/copy.tsx'
import { FormDialog, SecretDialog, TypedName } from '../parts/dialog.tsx'
import { Listed } from '../parts/listed.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { tell, tellProblem } from '../parts/toasts.tsx'
import { Actor, Moment, Tag } from '../parts/values.tsx'
import { randomId } from '../platform/ids.ts'
import { said, t } from '../words/words.ts'
import { Actions, chosenActions } from './actions.tsx'
import { activation } from './snippets.ts'

type Account = Answer<'getServiceAccount'>
type Key = Answer<'listServiceKeys'>['items'][number]
type Bindings = Account['bindings']

/** A program's account: its policy, its keys and how they are changed without a gap, and its history. */
export const Service = () => {
  const { id } = useParams({ from: '/access/services/$id' })
  const read = useAsk('getServiceAccount', { path: { id } })
  const change = useChange('updateServiceAccount', ['getServiceAccount', 'listServiceAccounts'])
  return (
    <Page
      title={read.data?.name ?? id.slice(0, 8)}
      lead={
        <Link to="/access" search={{ tab: 'services' }}>
          {said('access.tab', 'services')}
        </Link>
      }
    >
      <Shown of={read}>
        {(account) => (
          <>
            <div className="panel">
              <Facts
                facts={[
                  [
                    t('list.state'),
                    <Tag
                      key="s"
                      tone={account.enabled ? 'ok' : 'warn'}
                      text={account.enabled ? t('access.enabled') : t('access.disabled')}
                    />,
                  ],
                  [t('services.made'), <Moment key="m" at={account.createdAt} />],
                  [t('value.id'), <code key="i">{account.id}</code>],
                ]}
              />
              <Switch
                label={t('access.enabled')}
                checked={account.enabled}
                onChange={(event) =>
                  change.mutate(
                    {
                      path: { id },
                      body: { expectedRevision: account.revision, enabled: event.currentTarget.checked },
                    },
                    { onError: tellProblem },
                  )
                }
              />
            </div>
            <Policy account={account} />
            <Keys account={account} />
            <History id={id} />
          </>
        )}
      </Shown>
    </Page>
  )
}

const BindingList = ({ bindings }: { readonly bindings: Bindings }) => (
  <ul className="lines">
    {bindings.map(({ resource, actions }) => (
      <li key={resource.id} className="panel">
        <strong className="mono">{resource.id}</strong>
        <p>{actions.map((action) => said('action', action)).join(', ')}</p>
      </li>
    ))}
  </ul>
)

const Policy = ({ account }: { readonly account: Account }) => {
  const [open, setOpen] = useState(false)
  const [base, setBase] = useState(account)
  const [bindings, setBindings] = useState<Bindings>(account.bindings)
  const [added, setAdded] = useState('')
  const [clash, setClash] = useState(false)
  const put = useChange('putServicePolicy', ['getServiceAccount', 'listServiceAccounts'])
  const read = useAsk('getServiceAccount', { path: { id: account.id } })
  const submit = async (): Promise<void> => {
    try {
      await put.mutateAsync({
        path: { id: account.id },
        body: { expectedRevision: base.revision, bindings: bindings.filter(({ actions }) => actions.length > 0) },
      })
      setOpen(false)
      tell(t('artifact.saved'))
    } catch (error) {
      if (!isProblem(error) || error.code !== 'revision_mismatch') return
      const { data } = await read.refetch()
      if (data === undefined) return
      setBase(data)
      setClash(true)
    }
  }
  return (
    <Section
      title={t('services.policy')}
      actions={
        <Act
          by="putServicePolicy"
          size="compact-sm"
          label={t('artifact.edit')}
          run={() => {
            setBase(account)
            setBindings(account.bindings)
            setClash(false)
            setOpen(true)
          }}
        />
      }
    >
      <BindingList bindings={account.bindings} />
      <FormDialog
        title={t('services.policy')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit()}
        label={t('dialog.save')}
        busy={put.isPending}
        error={clash ? null : put.error}
      >
        {clash ? (
          <div className="band warn" role="alert">
            <Icon name="compare" />
            <div>
              <p className="strong">{t('conflict.title')}</p>
              <p>{t('conflict.theirs')}</p>
              <BindingList bindings={base.bindings} />
            </div>
          </div>
        ) : null}
        {bindings.map(({ resource, actions }) => (
          <div key={resource.id} className="panel">
            <strong className="mono">{resource.id}</strong>
            <Actions
              value={actions}
              change={(next) =>
                setBindings(
                  bindings.map((each) =>
                    each.resource.id === resource.id ? { resource, actions: chosenActions(next) } : each,
                  ),
                )
              }
            />
          </div>
        ))}
        <div className="filters">
          <TextInput
            className="grow"
            label={t('services.add')}
            value={added}
            onChange={(event) => setAdded(event.currentTarget.value)}
          />
          <Act
            by="putServicePolicy"
            label={t('services.addIt')}
            off={added === ''}
            run={() => {
              setBindings([...bindings, { resource: { kind: 'repository', id: added }, actions: ['repository.read'] }])
              setAdded('')
            }}
          />
        </div>
      </FormDialog>
    </Section>
  )
}

const states = { pending: 'warn', active: 'ok', revoked: 'plain' } as const
const day = 24 * 3_600_000

const Keys = ({ account }: { readonly account: Account }) => {
  const list = usePages('listServiceKeys', (after) => ({
    path: { id: account.id },
    ...(after === undefined ? {} : { query: { after: String(after) } }),
  }))
  const [making, setMaking] = useState<Key | 'new' | null>(null)
  const [revoking, setRevoking] = useState<Key | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const [rotated, setRotated] = useState<Key | null>(null)
  const revoke = useChange('revokeServiceKey', ['listServiceKeys', 'getServiceAudit'])
  const [right, setRight] = useState(false)
  return (
    <Section
      title={t('services.keys')}
      actions={
        <Act
          by="issueServiceKey"
          icon="plus"
          size="compact-sm"
          label={t('services.newKey')}
          run={() => setMaking('new')}
        />
      }
    >
      {rotated === null ? null : (
        <p className="band">
          <Icon name="info" />
          {t('services.rotating', { name: rotated.name })}
          <button type="button" className="link" onClick={() => setRevoking(rotated)}>
            {t('services.revokeOld')}
          </button>
        </p>
      )}
      <Listed
        of={list}
        label={t('services.keys')}
        keyOf={({ id }) => id}
        columns={[
          { key: 'name', label: t('list.name'), width: 'minmax(120px, 2fr)', show: ({ name }) => name },
          {
            key: 'state',
            label: t('list.state'),
            width: '110px',
            show: ({ state }) => <Tag tone={states[state]} text={said('key', state)} />,
          },
          {
            key: 'ends',
            label: t('me.expires'),
            width: '128px',
            wide: true,
            show: ({ expiresAt }) => <Moment at={expiresAt} />,
          },
          {
            key: 'act',
            label: t('list.actions'),
            width: '200px',
            end: true,
            show: (key) =>
              key.state === 'revoked' ? null : (
                <span className="line end-line">
                  <Act
                    by="rotateServiceKey"
                    size="compact-xs"
                    label={t('services.rotate')}
                    run={() => setMaking(key)}
                  />
                  <Act by="revokeServiceKey" size="compact-xs" label={t('me.revoke')} run={() => setRevoking(key)} />
                </span>
              ),
          },
        ]}
        empty={<Empty icon="key" title={t('services.noKeys')} />}
      />
      {making === null ? null : (
        <MakeKey
          account={account}
          from={making === 'new' ? null : making}
          close={() => setMaking(null)}
          made={(text) => {
            setSecret(text)
            setRotated(making === 'new' ? null : making)
            setMaking(null)
          }}
        />
      )}
      <SecretDialog title={t('services.secret')} secret={secret} close={() => setSecret(null)}>
        <Commands text={secret ?? ''} what={t('services.secret')} />
        <p>{t('services.activate')}</p>
        <Commands text={activation()} what={t('services.activation')} />
      </SecretDialog>
      <FormDialog
        title={t('me.revoke')}
        open={revoking !== null}
        close={() => setRevoking(null)}
        submit={() =>
          revoke.mutate(
            { path: { id: revoking?.id ?? '' } },
            {
              onSuccess: () => {
                if (revoking?.id === rotated?.id) setRotated(null)
                setRevoking(null)
              },
            },
          )
        }
        label={t('me.revoke')}
        busy={revoke.isPending}
        error={revoke.error}
        ready={right}
        danger
      >
        <p>{t('services.revoking')}</p>
        <TypedName name={revoking?.name ?? ''} typed={setRight} />
      </FormDialog>
    </Section>
  )
}

const MakeKey = ({
  account,
  from,
  close,
  made,
}: {
  readonly account: Account
  readonly from: Key | null
  readonly close: () => void
  readonly made: (secret: string) => void
}) => {
  const [name, setName] = useState(from === null ? '' : from.name)
  const [days, setDays] = useState('90')
  const [key] = useState(randomId)
  const issue = useChange('issueServiceKey', ['listServiceKeys', 'getServiceAudit'])
  const rotate = useChange('rotateServiceKey', ['listServiceKeys', 'getServiceAudit'])
  const submit = async (): Promise<void> => {
    const body = {
      name,
      bindings: from === null ? account.bindings : from.bindings,
      expiresAt: new Date(Date.now() + Number(days) * day).toISOString(),
    }
    const headers = { 'idempotency-key': key }
    const answer = await (from === null
      ? issue.mutateAsync({ path: { id: account.id }, headers, body })
      : rotate.mutateAsync({ path: { id: from.id }, headers, body }))
    if ('secret' in answer) made(answer.secret)
    else close()
  }
  return (
    <FormDialog
      title={from === null ? t('services.newKey') : t('services.rotateIt', { name: from.name })}
      open
      close={close}
      submit={() => void submit().catch(() => {})}
      label={t('me.create')}
      busy={issue.isPending || rotate.isPending}
      error={issue.error ?? rotate.error}
      ready={name !== ''}
    >
      <p className="muted">{from === null ? t('services.issuing') : t('services.rotation')}</p>
      <TextInput
        label={t('list.name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Select
        label={t('me.expires')}
        allowDeselect={false}
        value={days}
        onChange={(next) => setDays(next ?? '90')}
        data={['30', '90', '365'].map((value) => ({ value, label: t('me.days', { days: Number(value) }) }))}
      />
    </FormDialog>
  )
}

const History = ({ id }: { readonly id: string }) => {
  const list = usePages('getServiceAudit', (after) => ({
    path: { id },
    query: { order: 'desc', ...(after === undefined ? {} : { after: String(after) }) },
  }))
  return (
    <Section title={t('file.history')}>
      <Listed
        of={list}
        label={t('file.history')}
        keyOf={({ sequence }) => sequence}
        columns={[
          {
            key: 'time',
            label: t('activity.when'),
            width: '140px',
            show: ({ occurredAt }) => <Moment at={occurredAt} />,
          },
          {
            key: 'who',
            label: t('list.who'),
            width: 'minmax(96px, 1fr)',
            show: ({ actor, actorName }) => <Actor actor={actor} name={actorName} />,
          },
          {
            key: 'what',
            label: t('activity.what'),
            width: 'minmax(120px, 1fr)',
            show: ({ action }) => <span className="mono">{action}</span>,
          },
        ]}
        empty={<Empty icon="history" title={t('activity.none')} />}
      />
    </Section>
  )
}

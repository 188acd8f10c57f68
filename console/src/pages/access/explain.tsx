import { Autocomplete, Select } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useAsk } from '../../contract/asking.ts'
import { repositoryActions, systemActions } from '../../contract/generated.ts'
import { Icon } from '../../look/icons.tsx'
import { Section } from '../../parts/page.tsx'
import { Forbidden, Shown } from '../../parts/states.tsx'
import { useMay } from '../../session/holders.ts'
import { said, t } from '../../words/words.ts'

const actions = [...repositoryActions, ...systemActions]

/** Whether somebody may do something, and by what; the address keeps the question, to be shared. */
export const Explain = () => {
  const { who = '', repository = '', action: given = 'content.read' } = useSearch({ from: '/access' })
  const navigate = useNavigate({ from: '/access' })
  const allowed = useMay()('explainAccess')
  const people = useAsk('listUsers', {}, { enabled: allowed.may })
  const services = useAsk('listServiceAccounts', {}, { enabled: allowed.may })
  const repositories = useAsk('listAllRepositories', { query: { limit: 100 } }, { enabled: allowed.may })
  if (!allowed.may) return <Forbidden missing={allowed} />
  const action = actions.find((each) => each === given) ?? 'content.read'
  const ofService = systemActions.some((each) => each === action)
  const set = (name: string) => (text: string | null) =>
    void navigate({ search: (before) => ({ ...before, [name]: text ?? '' }), replace: true })
  const names = [...(people.data?.items ?? []), ...(services.data?.items ?? [])].map(({ name }) => name)
  return (
    <Section title={t('explain.title')}>
      <p className="muted">{t('explain.lead')}</p>
      <div className="filters">
        <Autocomplete label={t('list.who')} data={[...new Set(names)]} value={who} onChange={set('who')} />
        <Select
          label={t('explain.may')}
          data={actions.map((value) => ({ value, label: said('action', value) }))}
          value={action}
          onChange={set('action')}
          allowDeselect={false}
          searchable
        />
        {ofService ? null : (
          <Select
            label={t('list.repository')}
            data={(repositories.data?.items ?? []).map(({ id }) => id)}
            value={repository === '' ? null : repository}
            onChange={set('repository')}
            searchable
          />
        )}
      </div>
      {who === '' || (repository === '' && !ofService) ? (
        <p className="muted">{t('explain.choose')}</p>
      ) : (
        <Answered key={who} who={who} action={action} {...(ofService ? {} : { repository })} />
      )}
    </Section>
  )
}

/** Null for a reason of a newer service, which says it in its own words. */
const inOurWords = (reason: string): string | null => {
  const words = said('access.reason', reason)
  return words === reason ? null : words
}

const Answered = ({
  who,
  action,
  repository,
}: {
  readonly who: string
  readonly action: (typeof actions)[number]
  readonly repository?: string
}) => {
  const read = useAsk('explainAccess', {
    query: { caller: who, action, ...(repository === undefined ? {} : { repository }) },
  })
  return (
    <Shown of={read} rows={2}>
      {({ caller, allowed, reason, message, through }) => (
        <div className="panel" role="status">
          <p className="line strong">
            <Icon name={allowed ? 'check' : 'lock'} size={20} />
            {allowed
              ? t('explain.yes', { name: caller.name, action: said('action', action) })
              : t('explain.no', { name: caller.name, action: said('action', action) })}
          </p>
          {reason === null ? null : <p>{inOurWords(reason) ?? message}</p>}
          {through.length === 0 ? null : (
            <>
              <p>{t('explain.through')}</p>
              <ul className="lines">
                {through.map(({ kind, id, name, access }) => (
                  <li key={kind + (id ?? name)} className="line">
                    <Icon name={kind === 'group' ? 'people' : 'key'} />
                    <span>
                      {said('giver', kind)} <strong>{name}</strong>
                    </span>
                    {access === null ? null : <span className="muted">{said('access.level', access)}</span>}
                  </li>
                ))}
              </ul>
            </>
          )}
          {reason !== 'no_grant' && reason !== 'grant_too_small' ? null : (
            <p>
              <Link to="/access" search={{ tab: 'groups' }}>
                {t('explain.grant')}
              </Link>
            </p>
          )}
        </div>
      )}
    </Shown>
  )
}

import { accountId } from '../../api/call.js'
import { useQuery } from '../../api/query.js'
import type { App, Page, Policy } from '../../api/shapes.js'
import { Loaded } from '../../parts/Loaded.js'
import { NoAccount } from '../../parts/NoAccount.js'
import { hrefOf, place } from '../../router.js'
import { PolicyEditor } from './PolicyEditor.js'
import { PolicyList } from './PolicyList.js'
import './policies.css'

/** The policies of the account, or one of them: `policies`, `policies/new`, `policies/POLICY`. */
export function Policies() {
  const [, policyId] = place.value.path.split('/')
  const apps = useQuery<Page<App>>(accountId.value === undefined ? undefined : '/apps')
  if (accountId.value === undefined) return <NoAccount />
  return (
    <Loaded query={apps} lines={6}>
      {({ items }) => {
        const live = items.filter(({ revokedAt }) => revokedAt === null)
        if (policyId === undefined) return <PolicyList apps={live} />
        if (policyId === 'new') return <PolicyEditor key="new" apps={live} stored={undefined} />
        return <Stored key={policyId} policyId={policyId} apps={live} />
      }}
    </Loaded>
  )
}

type StoredProps = { readonly policyId: string; readonly apps: readonly App[] }

function Stored({ policyId, apps }: StoredProps) {
  const policy = useQuery<Policy>(`/policies/${policyId}`)
  return (
    <>
      {policy.trouble?.status === 404 && (
        <p>
          The policy is not there any more. <a href={hrefOf('policies')}>All policies</a>
        </p>
      )}
      <Loaded query={policy} lines={8}>
        {(stored) => (
          <PolicyEditor
            key={stored.updatedAt}
            apps={apps}
            stored={stored}
            onSaved={policy.refresh}
          />
        )}
      </Loaded>
    </>
  )
}

import { appName, chainName, coinOf, nameOf } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import type { Page, Policy, SignedStatement, Token, Webhook } from '../../api/shapes.js'
import { decimalOf } from '../../parts/amounts.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { Loaded } from '../../parts/Loaded.js'
import { saveText } from '../../parts/saveFile.js'
import { hrefOf } from '../../router.js'

type Amounts = {
  readonly operations: string
  readonly failed: string
  readonly cost: string
  readonly usd: string
  readonly unpriced: string
}
type Total = Amounts & { readonly chainId: number }
type Line = Total & {
  readonly policyId: string | null
  readonly token: string | null
  readonly collected: string
  readonly webhookIds: readonly string[]
}

/** `2026-11-01 00:00:00 UTC`: the same on every machine. */
function utcOf(time: string): string {
  return time.replace('T', ' ').replace(/(\.000)?Z$/, ' UTC')
}

/** A signed statement, as it is printed. */
export function StatementPage({ id }: { readonly id: string }) {
  const query = useQuery<SignedStatement>(`/statements/${id}`)
  return (
    <section class="statement">
      <Loaded query={query} lines={8}>
        {(statement) => <Content statement={statement} />}
      </Loaded>
    </section>
  )
}

function Content({ statement }: { readonly statement: SignedStatement }) {
  const { id, appId, content, csv, digest, signature, publicKey } = statement
  const { lines, totals } = JSON.parse(content) as {
    readonly lines: readonly Line[]
    readonly totals: readonly Total[]
  }
  const policies = useQuery<Page<Policy>>('/policies').data?.items ?? []
  const tokens = useQuery<Page<Token>>('/tokens').data?.items ?? []
  const collectedOf = ({ chainId, token, collected }: Line) => {
    const known = tokens.find((each) => each.chainId === chainId && each.address === token)
    return known
      ? `${decimalOf(collected, known.decimals)} ${known.symbol}`
      : `${collected} units of ${token}`
  }
  const hooks = useQuery<Page<Webhook>>(`/apps/${appId}/webhooks`).data?.items ?? []
  const policyName = (policyId: string | null) =>
    policyId === null
      ? 'no policy'
      : (policies.find((each) => each.policyId === policyId)?.name ?? policyId.slice(0, 8))
  const hookName = (hookId: string) => {
    const url = hooks.find((each) => each.webhookId === hookId)?.webhookUrl
    return url === undefined ? hookId.slice(0, 8) : new URL(url).host
  }
  return (
    <>
      <div class="row">
        <h1>Statement</h1>
        <span class="grow" />
        <a class="not-printed" href={hrefOf('spending')}>
          All spending
        </a>
        <button type="button" class="as-code" onClick={() => saveText(csv, `${id}.csv`)}>
          CSV
        </button>
        <button type="button" class="as-code" onClick={() => saveText(content, `${id}.json`)}>
          JSON
        </button>
        <button type="button" class="as-code" onClick={() => print()}>
          Print
        </button>
      </div>
      <Facts>
        <Fact name="App">
          {nameOf(appId) ?? appName(appId)} ({appId})
        </Fact>
        <Fact name="From, until">
          {utcOf(statement.from)},<br />
          {utcOf(statement.until)}
        </Fact>
        <Fact name="Made">{utcOf(statement.createdAt)}</Fact>
      </Facts>
      {lines.length > 0 && (
        <div class="list">
          <table>
            <thead>
              <tr>
                <th>Chain</th>
                <th>Policy</th>
                <th>Approved by</th>
                <th class="number">Operations</th>
                <th class="number">Cost</th>
                <th class="number">USD</th>
              </tr>
            </thead>
            <tbody>
              {lines.map((line) => (
                <tr key={`${line.chainId} ${line.policyId} ${line.token} ${line.webhookIds}`}>
                  <td>{chainName(line.chainId)}</td>
                  <td>
                    {line.token === null
                      ? policyName(line.policyId)
                      : `paid in tokens: ${collectedOf(line)}`}
                  </td>
                  <td>{line.webhookIds.map(hookName).join(', ') || 'no webhook'}</td>
                  <Numbers chainId={line.chainId} amounts={line} />
                </tr>
              ))}
              {totals.map((total) => (
                <tr key={total.chainId} class="is-total">
                  <td colSpan={3}>Total of {chainName(total.chainId)}</td>
                  <Numbers chainId={total.chainId} amounts={total} />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {totals.length === 0 && <p>Nothing was spent in this range.</p>}
      {lines.some(({ token }) => token !== null) && (
        <p class="muted">
          Cost and USD are what the operations cost the app; tokens that their senders paid are not
          deducted.
        </p>
      )}
      {totals.some(({ unpriced }) => unpriced !== '0') && (
        <p class="muted">
          USD leave out operations for which no price of the coin was recorded when they were
          signed.
        </p>
      )}
      <Facts>
        <Fact name="Number">{id}</Fact>
        <Fact name="SHA-256">
          <code>{digest}</code>
        </Fact>
        <Fact name="Signature">
          <code>{signature}</code>
        </Fact>
        <Fact name="Key">
          <code>{publicKey}</code>
        </Fact>
      </Facts>
    </>
  )
}

type NumbersProps = { readonly chainId: number; readonly amounts: Amounts }

function Numbers({ chainId, amounts }: NumbersProps) {
  const { operations, failed, cost, usd, unpriced } = amounts
  return (
    <>
      <td class="number">
        {operations}
        {failed !== '0' && <span class="muted"> ({failed} failed)</span>}
      </td>
      <td class="number">
        {decimalOf(cost, 18)} {coinOf(chainId)}
      </td>
      <td class="number">{unpriced === operations ? '–' : `$${usd}`}</td>
    </>
  )
}

/**
 * The rules under which a browser runs the console: scripts and styles of this origin alone, no frame around it, and no
 * text that becomes code (trusted types). Requests go to this origin, and to that of the interface of apps, which the
 * explorer asks.
 * @param serviceUrl - undefined = the interface of apps has the origin of the console
 */
export function consoleHeaders(serviceUrl: string | undefined): Readonly<Record<string, string>> {
  const service = serviceUrl === undefined ? '' : ` ${new URL(serviceUrl).origin}`
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "font-src 'self'",
      `connect-src 'self'${service}`,
      "form-action 'self'",
      "base-uri 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-frame-options': 'DENY',
  }
}

# Purser without its development parts: `docker build -t purser .` in a clone. docs/operate/install.md runs it.
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build \
 && npm prune --ignore-scripts --omit dev --omit optional \
 && npm pkg delete devDependencies optionalDependencies overrides scripts \
 && npm sbom --sbom-format cyclonedx > sbom.cdx.json \
 && find dist -name '*.map' -delete \
 && mkdir data

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Purser" \
      org.opencontainers.image.description="ERC-4337 bundler, gas-sponsoring paymaster and approval webhooks" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /app
COPY --from=build /build/package.json /build/LICENSE /build/CHANGELOG.md /build/sbom.cdx.json ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
# A folder for master.key, where no PURSER_MASTER_KEY_FILE names another place.
COPY --from=build --chown=65532:65532 /build/data /data
ENV NODE_ENV=production PURSER_HOST=0.0.0.0 PURSER_DATA=/data
USER 65532:65532
EXPOSE 4337
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PURSER_PORT||4337}/health/live`).then(({ok})=>process.exit(ok?0:1),()=>process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/cli.js"]
CMD ["serve"]

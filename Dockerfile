# One server on one volume: docker build -t hoglet . && docker run -p 8000:8000 -v hoglet:/data hoglet
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends binutils
WORKDIR /src
RUN python -m venv /opt/hoglet
COPY requirements.lock .
RUN /opt/hoglet/bin/pip install --no-cache-dir --no-compile --no-deps --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/hoglet/bin/pip install --no-cache-dir --no-compile --no-deps .
COPY deploy/slim.sh deploy/
RUN bash deploy/slim.sh /opt/hoglet
# The build fails if the slim server does not start; a start writes the byte code that the next one reads.
RUN timeout --preserve-status 30 /opt/hoglet/bin/hoglet serve --data-dir /tmp/data

FROM python:3.13-slim AS base
RUN cd /usr/local/lib/python3.13 \
    && rm -rf ensurepip idlelib tkinter turtledemo site-packages/pip* /usr/lib/*-linux-gnu/gconv

# From scratch, so that what base removed does not stay in a layer below.
FROM scratch
COPY --from=base / /
RUN useradd --uid 10001 --create-home --home-dir /data hoglet
COPY --from=build /opt/hoglet /opt/hoglet
ENV PATH=/opt/hoglet/bin:/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 HOGLET_DATA_DIR=/data HOGLET_HOST=0.0.0.0 HOGLET_LOG_FORMAT=json
USER hoglet
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=15s --start-period=30s CMD ["hoglet", "status", "--url", "http://127.0.0.1:8000"]
CMD ["hoglet", "serve"]
